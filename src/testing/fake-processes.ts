import {
  asyncScheduler,
  delay,
  EMPTY,
  filter,
  finalize,
  ignoreElements,
  map,
  merge,
  type Observable,
  Subject,
  takeWhile,
  tap,
  timer,
} from 'rxjs';
import type { Exit, Launch, ProcessEvent, Signal } from '../epochs/ports.ts';
import { answerTime, exits, liveAt, type Script, signAt, standardHealth } from './fake-script.ts';

/** A process that exists. */
interface Running {
  readonly epoch: number;
  readonly lineage: number;
  readonly restartEpoch: number;
  /** In ms. */
  readonly bornAt: number;
}

/** The processes of a proxy that exist, each with the script of its epoch. */
export function fakeProcesses(script: Script) {
  const running: Running[] = [];
  const ends = childrensOrders(running, script);
  const ignoresTerm = ({ epoch }: Running) => script.ignoresTerm?.includes(epoch) === true;

  /** Returns the process that answers for an epoch, if there is one. */
  const answerer = (epoch: number): Running | undefined =>
    running.findLast((process) => process.epoch === epoch);

  return {
    answerer,

    enter(launch: Launch): Running {
      const { epoch, lineage } = launch;
      const restartEpoch = launch.adopted ? 0 : launch.restartEpoch;
      const process = { epoch, lineage, restartEpoch, bornAt: asyncScheduler.now() };
      running.push(process);
      return process;
    },

    /**
     * Emits the events of a process until it exits: by `events$`, by a signal, or because its child
     * asks for it. Asks its own parent to end when an Envoy would.
     */
    life(
      process: Running,
      signals$: Observable<Signal>,
      events$: Observable<ProcessEvent>,
    ): Observable<ProcessEvent> {
      const obeyed$ = signals$.pipe(
        filter((signal) => signal === 'SIGKILL' || (signal === 'SIGTERM' && !ignoresTerm(process))),
        map((signal) => exitOf(signal === 'SIGTERM' ? exits.c : exits.k)),
        delay(answerTime),
      );
      const askedToEnd$ = ends.to(process).pipe(
        filter(() => !ignoresTerm(process)),
        map(() => exitOf(exits.c)),
        delay(answerTime),
      );
      return merge(obeyed$, askedToEnd$, ends.inTime(process), events$).pipe(
        tap((event) => {
          // An Envoy that ends cleanly asks its parent to end.
          if (event.type === 'exited' && event.exit.kind === 'clean') ends.now(process);
        }),
        takeWhile((event) => event.type !== 'exited', true),
        finalize(() => running.splice(running.indexOf(process), 1)),
      );
    },

    /** Returns the sign of an epoch's health now. */
    health: (epoch: number): string => healthSign(answerer(epoch), script),

    /** Returns the number of requests in flight now; undefined if it is unknown. */
    active: (epoch: number): number | undefined => activeCount(answerer(epoch), script),
  };
}

function healthSign(process: Running | undefined, script: Script): string {
  return process === undefined
    ? '?'
    : signAt(healthOf(process, script), asyncScheduler.now() - process.bornAt);
}

function activeCount(process: Running | undefined, { active }: Script): number | undefined {
  if (process === undefined) return undefined;
  const count = signAt(active?.[process.epoch] ?? '0', asyncScheduler.now());
  return count === '?' ? undefined : Number(count);
}

function healthOf({ epoch }: Running, script: Script): string {
  return script.health?.[epoch] ?? standardHealth(script);
}

/** Asks parents to end, as their children do. */
function childrensOrders(running: readonly Running[], script: Script) {
  const askedToEnd$ = new Subject<Running>();
  const parentOf = ({ lineage, restartEpoch }: Running): Running | undefined =>
    running.findLast(
      (other) => other.lineage === lineage && other.restartEpoch === restartEpoch - 1,
    );
  return {
    /** Emits when the child of a process asks it to end. */
    to: (process: Running) => askedToEnd$.pipe(filter((parent) => parent === process)),

    /** Asks the parent of a process to end. */
    now(child: Running): void {
      const parent = parentOf(child);
      if (parent !== undefined) askedToEnd$.next(parent);
    },

    /** Asks the parent of a process to end, once the process is LIVE and the time is over. */
    inTime(child: Running): Observable<never> {
      const live = liveAt(healthOf(child, script));
      const parent = parentOf(child);
      if (live === undefined || parent === undefined || script.parentShutdown === undefined)
        return EMPTY;
      return timer(live + script.parentShutdown).pipe(
        tap(() => askedToEnd$.next(parent)),
        ignoreElements(),
      );
    },
  };
}

function exitOf(exit: Exit): ProcessEvent {
  return { type: 'exited', exit };
}
