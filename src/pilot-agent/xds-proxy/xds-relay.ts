import {
  asyncScheduler,
  auditTime,
  concat,
  defer,
  EMPTY,
  filter,
  ignoreElements,
  interval,
  map,
  merge,
  mergeMap,
  NEVER,
  type Observable,
  of,
  type SchedulerLike,
  switchMap,
  takeWhile,
  tap,
  timer,
} from 'rxjs';
import { jitter } from '../../operators/back-off.ts';
import { reduceWithEffects, type Transition } from '../../operators/reduce-with-effects.ts';
import { ofType } from '../../operators/tagged-union.ts';
import type { LinkEvent, Question } from './control-plane.ts';
import type { LastGood } from './last-good.ts';
import type { Variant } from '../../shared/xds/messages.ts';
import { relay } from './relay.ts';
import {
  initialRelay,
  type RelayEffect,
  type RelayEvent,
  type RelayState,
  type Timed,
} from './relay-state.ts';
import type { EnvoyCall } from './xds-server.ts';

/** The outside of the xDS proxy. */
export interface RelayWorld {
  /** Each stream that an Envoy opens. */
  readonly call$: Observable<EnvoyCall>;
  /** Connects to the control plane and sends it requests (see `controlPlane`). */
  readonly connect$: (variant: Variant, question$: Observable<Question>) => Observable<LinkEvent>;
  /** The configuration on disk; undefined for none. */
  readonly stored: LastGood | undefined;
  readonly write: (good: LastGood) => void;
  /**
   * The age limit of a configuration that the control plane has not confirmed; with 0, nothing is
   * kept. In ms.
   */
  readonly maxAge: number;
  /** Returns a number from 0 up to, but not including, 1. */
  readonly random: () => number;
  readonly scheduler?: SchedulerLike;
}

export type RelayTransition = Transition<RelayState, Timed>;

/** Spreads the attempts, so that the proxies of a mesh do not reconnect all at once. */
const spread = 0.2;
/**
 * The window of one write of the stored configuration, and the time between confirmations. In ms.
 */
const [together, confirmedEvery] = [1_000, 600_000];

/**
 * Runs the xDS proxy. Emits each transition. Cold; never completes; errors only by a bug. Ends the
 * connection to the control plane on unsubscribe.
 */
export function xdsRelay({
  scheduler = asyncScheduler,
  ...world
}: RelayWorld): Observable<RelayTransition> {
  const { call$, stored, write, maxAge } = world;
  const confirmationDue$ =
    maxAge === 0
      ? EMPTY
      : interval(Math.max(together, Math.min(confirmedEvery, maxAge / 2)), scheduler);

  function interpret$(effect$: Observable<RelayEffect>): Observable<Timed> {
    return merge(
      call$.pipe(mergeMap((call, index) => envoy$(call, index + 1, effect$))),
      effect$.pipe(
        ofType('connect'),
        switchMap((effect) => link$(effect, effect$, { ...world, scheduler })),
      ),
      effect$.pipe(
        ofType('keep'),
        auditTime(together, scheduler),
        tap(({ good }) => write(good)),
        ignoreElements(),
      ),
      confirmationDue$.pipe(map((): RelayEvent => ({ type: 'confirmation-due' }))),
    ).pipe(map((event): Timed => ({ ...event, at: scheduler.now() })));
  }

  return NEVER.pipe(
    reduceWithEffects<RelayState, Timed, RelayEffect>(
      { ...initialRelay, good: maxAge === 0 ? undefined : stored },
      relay(maxAge),
      interpret$,
    ),
  );
}

/**
 * Emits the requests of an Envoy, and sends it the pushes to its stream. Completes when the stream
 * is closed.
 */
function envoy$(
  { variant, request$, push }: EnvoyCall,
  stream: number,
  effect$: Observable<RelayEffect>,
): Observable<RelayEvent> {
  return merge(
    effect$.pipe(
      ofType('push'),
      filter((effect) => effect.stream === stream),
      tap((effect) => push(effect.push)),
      ignoreElements(),
    ),
    concat(
      of<RelayEvent>({ type: 'stream-opened', stream, variant }),
      request$.pipe(map((request): RelayEvent => ({ type: 'requested', stream, request }))),
      of<RelayEvent>({ type: 'stream-closed', stream }),
    ),
  ).pipe(takeWhile(({ type }) => type !== 'stream-closed', true));
}

/** Emits the events of a connection to the control plane, and sends it the requests. */
function link$(
  { connection, variant, delay }: Extract<RelayEffect, { type: 'connect' }>,
  effect$: Observable<RelayEffect>,
  { connect$, random, scheduler }: Required<Pick<RelayWorld, 'connect$' | 'random' | 'scheduler'>>,
): Observable<RelayEvent> {
  const question$ = effect$.pipe(
    ofType('ask'),
    filter((effect) => effect.connection === connection),
  );
  const event$ = defer(() => connect$(variant, question$)).pipe(
    filter((event) => event.type !== 'connected'),
    map((event): RelayEvent => ({ ...event, connection })),
  );
  return delay === 0
    ? event$
    : timer(jitter(delay, spread, random()), scheduler).pipe(switchMap(() => event$));
}
