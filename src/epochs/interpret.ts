import {
  asyncScheduler,
  concatMap,
  EMPTY,
  filter,
  merge,
  mergeMap,
  type Observable,
  type SchedulerLike,
  switchMap,
  takeUntil,
} from 'rxjs';
import { jitter } from '../operators/back-off.ts';
import { ofType } from '../operators/tagged-union.ts';
import { checkReading } from './check-reading.ts';
import { drained } from './drained.ts';
import { eventAfter } from './event-after.ts';
import { endOf, follow } from './follow.ts';
import type { AgentEvent, Effect } from './model.ts';
import type { Proxy } from './ports.ts';
import { handOff } from './hand-off.ts';
import { parentExpiry } from './parent-expiry.ts';
import { ordersTo, runProcess } from './run-process.ts';
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

/** The world of a run, its effects, and its events. */
interface Run extends Required<World> {
  readonly effects$: Observable<Effect>;
  readonly events$: Observable<AgentEvent>;
}

/**
 * Carries out effects and emits their results. Only this file decides what runs concurrently.
 *
 * Turns run one after the other, and processes run side by side. For following an epoch, waiting
 * for a retry and checking, only the newest effect counts. Cold; completes with `effects$`, and
 * errors only if the proxy does.
 */
export function interpret({ scheduler = asyncScheduler, ...world }: World) {
  return (
    effects$: Observable<Effect>,
    events$: Observable<AgentEvent>,
  ): Observable<AgentEvent> => {
    const run: Run = { ...world, scheduler, effects$, events$ };
    return merge(claims(run), epochs(run), waits(run), drains(run));
  };
}

/** Turns are granted one after the other. Only the newest check counts. */
function claims({ proxy, timing, scheduler, effects$, events$ }: Run): Observable<AgentEvent> {
  return merge(
    effects$.pipe(
      ofType('await-turn'),
      concatMap((effect) =>
        turn(effect, proxy, events$, timing, scheduler).pipe(
          takeUntil(ordersTo(effect.epoch, 'withdraw-turn', effects$)),
        ),
      ),
    ),
    effects$.pipe(
      filter((effect) => effect.type === 'check' || effect.type === 'withdraw-turn'),
      switchMap((effect) =>
        effect.type === 'check' ? checkReading(effect, proxy, scheduler) : EMPTY,
      ),
    ),
  );
}

/** Processes run side by side. The newest one is followed. */
function epochs({ proxy, timing, scheduler, effects$, events$ }: Run): Observable<AgentEvent> {
  return merge(
    effects$.pipe(
      ofType('launch'),
      mergeMap((effect) => runProcess(effect, proxy, effects$, timing, scheduler)),
    ),
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
      ofType('hand-off'),
      mergeMap((effect) => handOff(effect, proxy, events$, timing, scheduler)),
    ),
  );
}

/** Waits for a time. Only the newest wait of each kind counts. */
function waits({ timing, random, scheduler, effects$ }: Run): Observable<AgentEvent> {
  return merge(
    effects$.pipe(
      ofType('await-stable'),
      switchMap(({ epoch }) =>
        eventAfter(timing.stable, { type: 'epoch-stable', epoch }, scheduler),
      ),
    ),
    effects$.pipe(
      ofType('await-parent-expiry'),
      switchMap(({ epoch }) => parentExpiry(epoch, timing, scheduler)),
    ),
    effects$.pipe(
      filter((effect) => effect.type === 'retry' || effect.type === 'cancel-retry'),
      switchMap((effect) =>
        effect.type === 'retry'
          ? eventAfter(
              jitter(effect.delay, retryJitter, random()),
              { type: 'retry-due' },
              scheduler,
            )
          : EMPTY,
      ),
    ),
    effects$.pipe(
      filter((effect) => effect.type === 'await-rescue' || effect.type === 'cancel-rescue'),
      switchMap((effect) =>
        effect.type === 'await-rescue'
          ? eventAfter(timing.unserved, { type: 'rescue-due' }, scheduler)
          : EMPTY,
      ),
    ),
  );
}

/** Drains before the end of the agent, and waits until that is done. */
function drains({ proxy, timing, scheduler, effects$, events$ }: Run): Observable<AgentEvent> {
  return merge(
    effects$.pipe(
      ofType('ask-drain'),
      mergeMap(({ epoch }) => proxy.drain(epoch, 'graceful')),
    ),
    effects$.pipe(
      ofType('await-drained'),
      switchMap((effect) => drained(effect, proxy, events$, timing, scheduler)),
    ),
  );
}
