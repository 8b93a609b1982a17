import {
  catchError,
  defer,
  filter,
  fromEvent,
  interval,
  map,
  merge,
  mergeMap,
  type Observable,
  of,
  race,
  switchMap,
  take,
  takeWhile,
  throttleTime,
  timer,
} from 'rxjs';
import { reduceWithEffects } from '../../operators/reduce-with-effects.ts';
import { ofType } from '../../operators/tagged-union.ts';
import { exitCodes, Fatal } from '../../shared/program/exit.ts';
import { canRewrite, paintFor } from '../../shared/log/paint.ts';
import { openScreen, type Screen } from '../terminal/screen.ts';
import { sizeOf } from '../terminal/screen-size.ts';
import {
  firstTopState,
  type Order,
  type TopEffect,
  type TopEvent,
  type TopState,
} from '../terminal/top-model.ts';
import { reduceTop } from '../terminal/top-reducer.ts';
import { topScreen } from '../terminal/top-screen.ts';
import { agentFolder, type AgentFolder, askAgent } from './agent-socket.ts';
import { liveEvents } from './live.ts';

export interface TopOptions {
  /**
   * `--configPath` of an agent. If left out: that of the agent that runs here, else the default.
   */
  readonly configPath?: string;
}

/** The shortest interval between two drawings. In ms. */
const drawing = 50;
/**
 * The time until this program goes on if SIGTSTP has not stopped it: no shell could continue it. In
 * ms.
 */
const stopping = 100;

/**
 * `pilot-agent top`: shows the state of an agent on the terminal, as it changes, until the user
 * quits. The terminal is as before when it resolves or rejects. Rejects with a {@link Fatal}: 64 if
 * there is no terminal, 69 if no agent answers at the start. If the agent goes away later, `top`
 * waits for the next one.
 */
export async function top({ configPath }: TopOptions): Promise<void> {
  const { stdin, stdout } = process;
  if (!stdin.isTTY || !stdout.isTTY)
    throw new Fatal(
      'top needs a terminal for its input and its output: see pilot-agent status',
      exitCodes.usage,
    );
  if (!canRewrite(stdout))
    throw new Fatal(
      'TERM: nothing can be drawn on a dumb terminal: see pilot-agent status',
      exitCodes.usage,
    );
  const where = await agentFolder(configPath);
  await askAgent(where, '/version').forEach(() => undefined);
  const screen = openScreen(stdin, stdout);
  const paint = paintFor(stdout);
  await states(where, screen).forEach((state) =>
    screen.draw(topScreen(state, paint), state.drawing),
  );
}

/** Emits the states to show, at most 20 times a second; completes when the user quits. */
function states(where: AgentFolder, screen: Screen): Observable<TopState> {
  const { stdin, stdout } = process;
  const outside$ = merge(
    of({ type: 'resumed' } as const),
    merge(
      ...['SIGTERM', 'SIGINT', 'SIGHUP'].map((signal) => fromEvent(process, signal)),
      fromEvent(stdin, 'end'),
      fromEvent(stdout, 'error'),
    ).pipe(map((): TopEvent => ({ type: 'end-requested' }))),
    fromEvent(stdout, 'resize').pipe(
      map((): TopEvent => ({ type: 'resized', size: sizeOf(stdout) })),
    ),
    interval(1_000).pipe(map((): TopEvent => ({ type: 'clock', now: Date.now() }))),
    liveEvents(where.folder),
  );
  const interpret = (effects$: Observable<TopEffect>): Observable<TopEvent> =>
    merge(
      effects$.pipe(
        filter(({ type }) => type !== 'order'),
        switchMap(({ type }) => (type === 'open' ? screen.session$ : stopped$)),
      ),
      effects$.pipe(
        ofType('order'),
        mergeMap(({ order }) => ask(where, order)),
      ),
    );
  return outside$.pipe(
    reduceWithEffects(firstTopState(sizeOf(stdout), Date.now()), reduceTop, interpret),
    map(({ state }) => state),
    takeWhile(({ isOver }) => !isOver),
    throttleTime(drawing, undefined, { leading: true, trailing: true }),
  );
}

/** Stops this program as its shell does, and emits when it continues. */
const stopped$: Observable<TopEvent> = defer(() => {
  process.kill(0, 'SIGTSTP');
  return race(fromEvent(process, 'SIGCONT'), timer(stopping)).pipe(take(1));
}).pipe(map(() => ({ type: 'resumed' })));

function ask(where: AgentFolder, order: Order): Observable<TopEvent> {
  return askAgent(where, `/${order}`, 'POST').pipe(
    map(({ status, body }) =>
      status === 200 ? 'the agent does it' : `the agent refuses: ${status} ${body}`,
    ),
    catchError((error: unknown) => of((error as Error).message)),
    map((answer): TopEvent => ({ type: 'answered', order, answer })),
  );
}
