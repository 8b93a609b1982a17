import {
  asyncScheduler,
  defer,
  delay,
  EMPTY,
  filter,
  finalize,
  ignoreElements,
  map,
  merge,
  type Observable,
  ReplaySubject,
  Subject,
  takeWhile,
  tap,
  timer,
} from 'rxjs';
import { type RunHelpers, TestScheduler } from 'rxjs/testing';
import type { Launch, ProcessEvent, Proxy, Verdict, Health, Exit } from '../epochs/ports.ts';

const letters = { SIGTERM: 'T', SIGKILL: 'K', SIGUSR1: 'U' } as const;

/**
 * How long each answer takes, and each exit that was ordered. In ms: so little that it does not
 * move a diagram, which shows whole ms. A power of two, so that its sums are exact.
 */
export const answerTime = 1 / 1024;

/** What happens to a proxy, in marbles. A process counts its frames from its launch on. */
export interface Script {
  /**
   * The life of each epoch: S exists, c ends with 0, f with 1, p with 1 because its port is taken,
   * x with 3, k is killed, n never started.
   */
  readonly processes: readonly string[];
  /**
   * What the admin endpoint says of each epoch, until it says something else: u up, l LIVE, s
   * silent, ? there is none. LIVE after `liveAfter` if left out, or undefined for an epoch.
   */
  readonly health?: readonly (string | undefined)[];
  /** From a launch until the process is LIVE, in ms; 100 if left out, as a real Envoy. */
  readonly liveAfter?: number;
  /**
   * How each check goes: y accepts, n refuses, a accepts an Envoy apart from the others, m one
   * without others, k was killed, o was killed for want of memory. The last one stays; at once and
   * accepted if left out.
   */
  readonly checks?: readonly string[];
  /**
   * How many requests are in flight in each epoch, until it is another number: a digit, or ? for
   * unknown. The time counts from the first frame of the test. None are if it is left out.
   */
  readonly active?: readonly string[];
  /**
   * When a child tells its parent to end, in ms after it is LIVE, as `--parent-shutdown-time-s`.
   * Never if left out, or not before the child itself ends in order.
   */
  readonly parentShutdown?: number;
  /** Epochs that only SIGKILL ends. */
  readonly ignoresTerm?: readonly number[];
}

export const exits = {
  c: { kind: 'clean' },
  f: { kind: 'failed', code: 1, tail: ['no such file: key.pem'] },
  p: { kind: 'failed', code: 1, tail: [], addressTaken: '0.0.0.0:15001' },
  x: { kind: 'failed', code: 3, tail: [] },
  k: { kind: 'signaled', signal: 'SIGKILL', tail: [] },
  n: { kind: 'spawn-failed', reason: 'ENOENT' },
} as const satisfies Record<string, Exit>;

const fates: Record<string, ProcessEvent> = {
  S: { type: 'spawned', pid: 4711 },
  ...Object.fromEntries(
    Object.entries(exits).map(([sign, exit]) => [
      sign,
      { type: 'exited', exit } satisfies ProcessEvent,
    ]),
  ),
};
const healthSigns: Record<string, Health> = {
  u: 'up',
  l: 'live',
  s: 'unresponsive',
  '?': 'unknown',
};
const verdicts: Record<string, Verdict> = {
  y: { kind: 'works' },
  n: { kind: 'refused', reason: 'key does not match' },
  a: { kind: 'works-alone' },
  m: { kind: 'no-room', reason: 'memory' },
  k: { kind: 'unchecked', reason: 'Envoy was ended by SIGKILL', outOfMemory: false },
  o: { kind: 'unchecked', reason: 'Envoy was ended by SIGKILL', outOfMemory: true },
};

/** A process that exists. */
interface Running {
  readonly epoch: number;
  readonly lineage: number;
  readonly restartEpoch: number;
}

const standardHealth = ({ liveAfter = 100 }: Script) => `u ${liveAfter - 1}ms l`;

/** When a diagram of health has LIVE first; undefined for never. */
const liveAt = (diagram: string): number | undefined =>
  TestScheduler.parseMarbles(diagram, undefined, undefined, false, true).find(
    ({ notification }) => notification.kind === 'N' && notification.value === 'l',
  )?.frame;

/** What `diagram` shows at a time: its last sign up to then. */
const at = (diagram: string, time: number): string => {
  const signs = TestScheduler.parseMarbles(diagram, undefined, undefined, false, true)
    .filter(({ frame }) => frame <= time)
    .map(({ notification }) =>
      notification.kind === 'N' ? String(notification.value) : undefined,
    );
  return signs.findLast((sign) => sign !== undefined) ?? '?';
};

/**
 * A proxy whose processes are cold marbles, so that the subscription diagram of one,
 * `lives[epoch]`, is its life. SIGTERM ends it cleanly, SIGKILL by the signal. A launch for which
 * the script has no process is an error. Each answer, and each end that was ordered, comes after
 * {@link answerTime}.
 *
 * It answers for the epoch that it is asked about. A question about one that has no process, or
 * none any more, goes where the configured admin endpoint leads: to the newest process. That is
 * not LIVE as the epoch that was meant, but it does what it is told, and counts what it has.
 *
 * What it is asked to do can be drawn: `launched$`, `signalled$` (T, K or U for SIGUSR1),
 * `checked$` (c, or a ahead of it), `drained$` (g graceful, p plain, and the epoch that was told, ?
 * for nobody), `published$` (the epoch whose admin endpoint others find), `asked$` (an epoch's
 * number for each look at it).
 */
export function fakeProxy(m: Pick<RunHelpers, 'cold'>, script: Script) {
  const processes = script.processes.map((diagram) => m.cold(diagram, fates));
  const births = new Map<number, number>();
  const running: Running[] = [];
  const launches$ = new ReplaySubject<Launch>(Infinity);
  const signals$ = new ReplaySubject<string>(Infinity);
  const checks$ = new ReplaySubject<string>(Infinity);
  const drains$ = new ReplaySubject<string>(Infinity);
  const looks$ = new ReplaySubject<string>(Infinity);
  const published$ = new ReplaySubject<string>(Infinity);
  const toldToEnd$ = new Subject<Running>();
  let checks = 0;

  function parentOf({ lineage, restartEpoch }: Running): Running | undefined {
    return running.findLast(
      (other) => other.lineage === lineage && other.restartEpoch === restartEpoch - 1,
    );
  }

  /** Tells the parent of a process to end, once that is LIVE and the time is over. */
  function parentTold(child: Running): Observable<never> {
    const live = liveAt(script.health?.[child.epoch] ?? standardHealth(script));
    const parent = parentOf(child);
    if (live === undefined || parent === undefined || script.parentShutdown === undefined)
      return EMPTY;
    return timer(live + script.parentShutdown).pipe(
      tap(() => toldToEnd$.next(parent)),
      ignoreElements(),
    );
  }

  /** Its process answers for an epoch; without one, nobody. */
  const answerer = (epoch: number): Running | undefined =>
    running.findLast((process) => process.epoch === epoch);

  const health = (epoch: number): string => {
    const asked = answerer(epoch);
    if (asked === undefined) return '?';
    const sign = at(
      script.health?.[asked.epoch] ?? standardHealth(script),
      asyncScheduler.now() - (births.get(asked.epoch) ?? 0),
    );
    return sign;
  };

  const proxy: Proxy = {
    run: (launch, orders$) =>
      defer(() => {
        const { epoch } = launch;
        const process$ = processes[epoch];
        if (process$ === undefined) throw new Error(`the script has no process ${epoch}`);
        const restartEpoch = launch.adopted ? 0 : launch.restartEpoch;
        const own: Running = { epoch, lineage: launch.lineage, restartEpoch };
        births.set(epoch, asyncScheduler.now());
        running.push(own);
        launches$.next(launch);
        const obeyed$ = orders$.pipe(
          tap((signal) => signals$.next(letters[signal])),
          filter(
            (signal) =>
              signal === 'SIGKILL' ||
              (signal === 'SIGTERM' && script.ignoresTerm?.includes(epoch) !== true),
          ),
          map((signal): ProcessEvent => ({
            type: 'exited',
            exit: signal === 'SIGTERM' ? exits.c : exits.k,
          })),
          delay(answerTime),
        );
        const told$ = toldToEnd$.pipe(
          filter((parent) => parent === own && script.ignoresTerm?.includes(epoch) !== true),
          map((): ProcessEvent => ({ type: 'exited', exit: exits.c })),
          delay(answerTime),
        );
        return merge(obeyed$, told$, parentTold(own), process$).pipe(
          tap((event) => {
            // An Envoy that ends in order tells its parent to end.
            const parent =
              event.type === 'exited' && event.exit.kind === 'clean' ? parentOf(own) : undefined;
            if (parent !== undefined) toldToEnd$.next(parent);
          }),
          takeWhile((event) => event.type !== 'exited', true),
          finalize(() => running.splice(running.indexOf(own), 1)),
        );
      }),
    health: (epoch) =>
      defer(() => {
        looks$.next(String(epoch));
        return m.cold(`(${health(epoch)}|)`, healthSigns).pipe(delay(answerTime));
      }),
    publishAdmin: (epoch) =>
      defer(() => {
        published$.next(String(answerer(epoch)?.epoch ?? '?'));
        return EMPTY;
      }),
    check: () =>
      defer(() => {
        checks$.next('c');
        const diagrams = script.checks ?? ['(y|)'];
        return m
          .cold(diagrams[Math.min(checks++, diagrams.length - 1)] ?? '(y|)', verdicts)
          .pipe(delay(answerTime));
      }),
    checkAhead: () =>
      defer(() => {
        checks$.next('a');
        return EMPTY;
      }),
    drain: (epoch, how) =>
      defer(() => {
        drains$.next(`${how === 'graceful' ? 'g' : 'p'}${answerer(epoch)?.epoch ?? '?'}`);
        return timer(answerTime).pipe(ignoreElements());
      }),
    active: (epoch) =>
      defer(() => {
        const asked = answerer(epoch);
        const count =
          asked === undefined ? '?' : at(script.active?.[asked.epoch] ?? '0', asyncScheduler.now());
        return m
          .cold<number | undefined>('(n|)', { n: count === '?' ? undefined : Number(count) })
          .pipe(delay(answerTime));
      }),
  };

  return {
    proxy,
    lives: processes.map(({ subscriptions }) => subscriptions),
    launched$: launches$.asObservable(),
    signalled$: signals$.asObservable(),
    checked$: checks$.asObservable(),
    drained$: drains$.asObservable(),
    published$: published$.asObservable(),
    asked$: looks$.asObservable(),
  };
}
