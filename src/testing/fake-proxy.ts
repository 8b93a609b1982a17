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
 * How long each answer takes, and each exit after a signal. In ms: so short that it does not move a
 * diagram, which shows whole ms. A power of two, so that its sums are exact.
 */
export const answerTime = 1 / 1024;

/** The behaviour of a proxy, in marbles. Each process counts its frames from its launch. */
export interface Script {
  /**
   * The life of each epoch: S exists, c ends with 0, f with 1, p with 1 because its port is taken,
   * x with 3, k is killed, n never started.
   */
  readonly processes: readonly string[];
  /**
   * The answer of each epoch's admin endpoint, until the next sign: u up, l LIVE, s silent, ? there
   * is none. If it is left out or undefined for an epoch, the epoch is LIVE after `liveAfter`.
   */
  readonly health?: readonly (string | undefined)[];
  /**
   * The time from a launch until the process is LIVE, in ms; 100 if left out, as with a real Envoy.
   */
  readonly liveAfter?: number;
  /**
   * The result of each check: y accepts, n refuses, a accepts an Envoy apart from the others, m one
   * without others, k was killed, o was killed because memory ran out. The last one is used for all
   * further checks. If left out, each check accepts at once.
   */
  readonly checks?: readonly string[];
  /**
   * The number of requests in flight in each epoch, until the next sign: a digit, or ? for unknown.
   * The time counts from the first frame of the test. If left out there are none.
   */
  readonly active?: readonly string[];
  /**
   * When a child asks its parent to end, in ms after it is LIVE, as `--parent-shutdown-time-s`. If
   * left out, it asks only when it ends cleanly.
   */
  readonly parentShutdown?: number;
  /** The epochs that only SIGKILL ends. */
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

/** Returns when a diagram of health first shows LIVE; undefined for never. */
const liveAt = (diagram: string): number | undefined =>
  TestScheduler.parseMarbles(diagram, undefined, undefined, false, true).find(
    ({ notification }) => notification.kind === 'N' && notification.value === 'l',
  )?.frame;

/** Returns the last sign of `diagram` up to a time. */
const signAt = (diagram: string, time: number): string => {
  const signs = TestScheduler.parseMarbles(diagram, undefined, undefined, false, true)
    .filter(({ frame }) => frame <= time)
    .map(({ notification }) =>
      notification.kind === 'N' ? String(notification.value) : undefined,
    );
  return signs.findLast((sign) => sign !== undefined) ?? '?';
};

/**
 * Makes a proxy whose processes are cold marbles, so that the subscription diagram of one,
 * `lives[epoch]`, shows its life. SIGTERM ends it cleanly, and SIGKILL by the signal. A launch
 * without a process in the script is an error. Each answer, and each end after a signal, comes
 * after {@link answerTime}.
 *
 * It answers for the epoch in question. Without a process of that epoch the health and the count
 * are unknown.
 *
 * Its calls can be drawn: `launched$`, `signalled$` (T, K or U for SIGUSR1), `checked$` (c, or a in
 * advance), `drained$` (g graceful, p plain, and the epoch, ? for none), `published$` (the epoch
 * whose admin endpoint others find), `asked$` (an epoch's number for each question about its
 * health).
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

  /** Asks the parent of a process to end, once the process is LIVE and the time is over. */
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

  /** Returns the process that answers for an epoch, if there is one. */
  const answerer = (epoch: number): Running | undefined =>
    running.findLast((process) => process.epoch === epoch);

  const health = (epoch: number): string => {
    const asked = answerer(epoch);
    if (asked === undefined) return '?';
    const sign = signAt(
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
        const process: Running = { epoch, lineage: launch.lineage, restartEpoch };
        births.set(epoch, asyncScheduler.now());
        running.push(process);
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
          filter((parent) => parent === process && script.ignoresTerm?.includes(epoch) !== true),
          map((): ProcessEvent => ({ type: 'exited', exit: exits.c })),
          delay(answerTime),
        );
        return merge(obeyed$, told$, parentTold(process), process$).pipe(
          tap((event) => {
            // An Envoy that ends cleanly asks its parent to end.
            const parent =
              event.type === 'exited' && event.exit.kind === 'clean'
                ? parentOf(process)
                : undefined;
            if (parent !== undefined) toldToEnd$.next(parent);
          }),
          takeWhile((event) => event.type !== 'exited', true),
          finalize(() => running.splice(running.indexOf(process), 1)),
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
          asked === undefined
            ? '?'
            : signAt(script.active?.[asked.epoch] ?? '0', asyncScheduler.now());
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
