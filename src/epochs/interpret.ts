import {
  asyncScheduler,
  concat,
  concatMap,
  EMPTY,
  exhaustMap,
  filter,
  map,
  merge,
  mergeMap,
  type Observable,
  type SchedulerLike,
  switchMap,
  takeUntil,
  timer,
} from 'rxjs';
import { jitter } from '../operators/back-off.ts';
import { ofType } from '../operators/tagged-union.ts';
import { drained } from './drained.ts';
import { ending } from './ending.ts';
import { endOf, follow } from './follow.ts';
import type { AgentEvent, Effect } from './model.ts';
import type { Proxy, Verdict } from './ports.ts';
import { handOff } from './hand-off.ts';
import type { Timing } from './timing.ts';
import { turn } from './turn.ts';

/** Everything that effects act on. */
export interface World {
  readonly proxy: Proxy;
  readonly timing: Timing;
  /** Returns a number from 0 up to, but not including, 1. */
  readonly random: () => number;
  readonly scheduler?: SchedulerLike;
}

/**
 * A back-off is longer or shorter by at most this share, so that a fleet that failed together does
 * not restart together.
 */
const retryJitter = 0.2;

/**
 * Carries out effects and emits their results. Only this function decides what runs concurrently.
 *
 * Turns run one after the other, and processes run side by side. For following an epoch, waiting
 * for a retry and checking, only the newest effect counts. Cold; completes with `effects$`, and
 * errors only if the proxy does.
 */
export function interpret({ proxy, timing, random, scheduler = asyncScheduler }: World) {
  return (
    effects$: Observable<Effect>,
    events$: Observable<AgentEvent>,
  ): Observable<AgentEvent> => {
    function orders(
      type: 'kill' | 'kill-unless-live' | 'reopen' | 'withdraw-turn',
      epoch: number,
    ): Observable<Effect> {
      return effects$.pipe(filter((effect) => effect.type === type && effect.epoch === epoch));
    }

    /** Runs a process, and sends it the signals that end it. */
    function run({ launch }: Extract<Effect, { type: 'launch' }>): Observable<AgentEvent> {
      const { epoch } = launch;
      const stopping$ = effects$.pipe(
        ofType('stop'),
        filter((effect) => effect.epoch === epoch),
        exhaustMap((effect) => ending(effect, proxy, timing, scheduler)),
      );
      const reopening$ = orders('reopen', epoch).pipe(map(() => 'SIGUSR1' as const));
      const hopeless$ = orders('kill-unless-live', epoch).pipe(
        exhaustMap(() => proxy.health(epoch)),
        filter((health) => health !== 'live'),
      );
      const killing$ = merge(orders('kill', epoch), hopeless$).pipe(map(() => 'SIGKILL' as const));
      return proxy.run(launch, merge(stopping$, killing$, reopening$)).pipe(
        map((event): AgentEvent => {
          return event.type === 'spawned'
            ? { type: 'epoch-spawned', epoch, pid: event.pid }
            : { type: 'epoch-exited', epoch, exit: event.exit };
        }),
      );
    }

    return merge(
      effects$.pipe(
        ofType('await-turn'),
        concatMap((effect) =>
          turn(effect, proxy, events$, timing, scheduler).pipe(
            takeUntil(orders('withdraw-turn', effect.epoch)),
          ),
        ),
      ),
      effects$.pipe(
        filter((effect) => effect.type === 'check' || effect.type === 'withdraw-turn'),
        switchMap((effect) => (effect.type === 'check' ? check(effect) : EMPTY)),
      ),
      effects$.pipe(ofType('launch'), mergeMap(run)),
      effects$.pipe(
        ofType('follow'),
        switchMap((effect) =>
          follow(effect, proxy, timing, scheduler).pipe(takeUntil(endOf(effect.epoch, events$))),
        ),
      ),
      effects$.pipe(
        ofType('publish-admin'),
        mergeMap(({ epoch }) => proxy.publishAdmin(epoch)),
      ),
      effects$.pipe(
        ofType('await-stable'),
        switchMap(({ epoch }) =>
          timer(timing.stable, scheduler).pipe(
            map((): AgentEvent => ({ type: 'epoch-stable', epoch })),
          ),
        ),
      ),
      effects$.pipe(
        ofType('await-parent-expiry'),
        switchMap(({ epoch }) => parentExpiry(epoch)),
      ),
      effects$.pipe(
        ofType('hand-off'),
        mergeMap((effect) => handOff(effect, proxy, events$, timing, scheduler)),
      ),
      effects$.pipe(
        filter((effect) => effect.type === 'retry' || effect.type === 'cancel-retry'),
        switchMap((effect) => (effect.type === 'retry' ? retry(effect.delay) : EMPTY)),
      ),
      effects$.pipe(
        filter((effect) => effect.type === 'await-rescue' || effect.type === 'cancel-rescue'),
        switchMap((effect) =>
          effect.type === 'await-rescue'
            ? timer(timing.unserved, scheduler).pipe(
                map((): AgentEvent => ({ type: 'rescue-due' })),
              )
            : EMPTY,
        ),
      ),
      effects$.pipe(
        ofType('ask-drain'),
        mergeMap(({ epoch }) => proxy.drain(epoch, 'graceful')),
      ),
      effects$.pipe(
        ofType('await-drained'),
        switchMap((effect) => drained(effect, proxy, events$, timing, scheduler)),
      ),
    );

    function check({ reading, delay }: Extract<Effect, { type: 'check' }>): Observable<AgentEvent> {
      const { hash } = reading;
      const verdict$ = proxy.check(reading);
      return (
        delay === 0 ? verdict$ : timer(delay, scheduler).pipe(switchMap(() => verdict$))
      ).pipe(map((verdict) => checkedEvent(hash, verdict)));
    }

    /**
     * Emits before and after the moment at which Envoy asks its parent to end: the agent sees LIVE
     * late, and a parent takes a while to end.
     */
    function parentExpiry(epoch: number): Observable<AgentEvent> {
      const { parentShutdown, parentMargin } = timing;
      return concat(
        timer(Math.max(0, parentShutdown - parentMargin), scheduler).pipe(
          map((): AgentEvent => ({ type: 'parent-expiring', epoch })),
        ),
        timer(Math.min(parentShutdown, parentMargin) + parentMargin, scheduler).pipe(
          map((): AgentEvent => ({ type: 'parent-expired', epoch })),
        ),
      );
    }

    function retry(delay: number): Observable<AgentEvent> {
      return timer(jitter(delay, retryJitter, random()), scheduler).pipe(
        map((): AgentEvent => ({ type: 'retry-due' })),
      );
    }
  };
}

function checkedEvent(hash: string, verdict: Verdict): AgentEvent {
  if (verdict.kind === 'refused') {
    const { reason, excerpt } = verdict;
    return { type: 'config-refused', hash, reason, ...(excerpt !== undefined && { excerpt }) };
  }
  if (verdict.kind === 'unchecked') {
    const { reason, outOfMemory } = verdict;
    return { type: 'config-unchecked', hash, reason, outOfMemory };
  }
  return { type: 'config-accepted', hash, verdict };
}
