import { defer, delay, EMPTY, ignoreElements, ReplaySubject, tap, timer } from 'rxjs';
import type { RunHelpers } from 'rxjs/testing';
import type { Health, Launch, ProcessEvent, Proxy, Verdict } from '../epochs/ports.ts';
import { fakeProcesses } from './fake-processes.ts';
import { answerTime, exits, type Script } from './fake-script.ts';

const letters = { SIGTERM: 'T', SIGKILL: 'K', SIGUSR1: 'U' } as const;

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

/**
 * Makes a proxy whose processes are cold marbles, so the subscription diagram of a process,
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
  const family = fakeProcesses(script);
  const calls = recordedCalls();
  let checks = 0;

  const proxy: Proxy = {
    run: (launch, orders$) =>
      defer(() => {
        const process$ = processes[launch.epoch];
        if (process$ === undefined) throw new Error(`the script has no process ${launch.epoch}`);
        const process = family.enter(launch);
        calls.launched$.next(launch);
        const signals$ = orders$.pipe(tap((signal) => calls.signalled$.next(letters[signal])));
        return family.life(process, signals$, process$);
      }),
    health: (epoch) =>
      defer(() => {
        calls.asked$.next(String(epoch));
        return m.cold(`(${family.health(epoch)}|)`, healthSigns).pipe(delay(answerTime));
      }),
    publishAdmin: (epoch) =>
      defer(() => {
        calls.published$.next(String(family.answerer(epoch)?.epoch ?? '?'));
        return EMPTY;
      }),
    check: () =>
      defer(() => {
        calls.checked$.next('c');
        return m.cold(checkAt(script, checks++), verdicts).pipe(delay(answerTime));
      }),
    checkAhead: () =>
      defer(() => {
        calls.checked$.next('a');
        return EMPTY;
      }),
    drain: (epoch, how) =>
      defer(() => {
        const letter = how === 'graceful' ? 'g' : 'p';
        calls.drained$.next(`${letter}${family.answerer(epoch)?.epoch ?? '?'}`);
        return timer(answerTime).pipe(ignoreElements());
      }),
    active: (epoch) =>
      defer(() =>
        m.cold<number | undefined>('(n|)', { n: family.active(epoch) }).pipe(delay(answerTime)),
      ),
  };
  return {
    proxy,
    lives: processes.map(({ subscriptions }) => subscriptions),
    ...drawn(calls),
  };
}

/** Returns the diagram of a check. The last one is used for all further checks. */
function checkAt({ checks = [] }: Script, index: number): string {
  return checks[Math.min(index, checks.length - 1)] ?? '(y|)';
}

/** The calls of a proxy, in their order. */
function recordedCalls() {
  return {
    launched$: new ReplaySubject<Launch>(Infinity),
    signalled$: new ReplaySubject<string>(Infinity),
    checked$: new ReplaySubject<string>(Infinity),
    drained$: new ReplaySubject<string>(Infinity),
    published$: new ReplaySubject<string>(Infinity),
    asked$: new ReplaySubject<string>(Infinity),
  };
}

/** Returns the calls as streams that can only be read. */
function drawn(calls: ReturnType<typeof recordedCalls>) {
  return {
    launched$: calls.launched$.asObservable(),
    signalled$: calls.signalled$.asObservable(),
    checked$: calls.checked$.asObservable(),
    drained$: calls.drained$.asObservable(),
    published$: calls.published$.asObservable(),
    asked$: calls.asked$.asObservable(),
  };
}
