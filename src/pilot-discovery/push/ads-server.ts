import { defer, map, merge, mergeMap, type Observable, share } from 'rxjs';
import { fairSlices } from '../../operators/fair-slices.ts';
import { reduceWithEffects } from '../../operators/reduce-with-effects.ts';
import { ofType } from '../../operators/tagged-union.ts';
import type { AdsEvent } from './ads-event.ts';
import type { Variant } from '../../shared/xds/messages.ts';
import { answerEncoder } from './encode-answer.ts';
import { type Call, firstRequests, silence } from './first-request.ts';
import {
  noStreams,
  reduceStreams,
  type StreamsEffect,
  type StreamsEvent,
  type StreamsState,
} from './reduce-streams.ts';
import { type CallWorld, serveCall } from './serve-call.ts';

type WorldPart = 'viewFor$' | 'configFor$' | 'nodeFlaw' | 'secretsFor$' | 'scheduler' | 'cut';

export interface AdsOptions extends Pick<CallWorld, WorldPart> {
  /** The name of the control plane in its answers. */
  readonly controlPlane: string;
  /** The number of proxies that are written to at once. */
  readonly throttle: number;
  /** Emits when the streams have to end: the ms over which they end, one after the other. */
  readonly drain$: Observable<number>;
}

/** Requests and changes are handled for this time in a row; then other work has its turn. In ms. */
const slice = 20;

/**
 * Serves aggregated discovery (ADS) on streams, and emits their events. `throttle` proxies are
 * written to at once; the others wait for their turn. If a stream throws, it ends with an error,
 * and all others go on. Cold; never completes, never errors.
 */
export function serveAds(
  call$: Observable<readonly [Variant, Call]>,
  { controlPlane, throttle, drain$, ...sources }: AdsOptions,
): Observable<AdsEvent> {
  const { scheduler } = sources;
  return defer(() => {
    const { encode, forget$ } = answerEncoder(controlPlane, scheduler);
    const inSlices$ = fairSlices(slice, scheduler);
    const event$ = merge(
      drain$.pipe(map((ms): StreamsEvent => ({ type: 'drain', ms }))),
      firstRequests(call$, silence, scheduler),
    );
    const adsEvent$ = event$.pipe(
      reduceWithEffects<StreamsState, StreamsEvent, StreamsEffect>(
        noStreams,
        (state, event) => reduceStreams(state, event, throttle),
        (effect$) => carryOut(effect$, { ...sources, encode, inSlices$ }),
      ),
      mergeMap(({ event }) => (event.type === 'ads-event' ? [event.event] : [])),
    );
    return merge(adsEvent$, forget$);
  });
}

function carryOut(
  effect$: Observable<StreamsEffect>,
  world: Omit<CallWorld, 'end$'>,
): Observable<StreamsEvent> {
  const end$ = effect$.pipe(ofType('end'), share());
  return merge(
    effect$.pipe(
      ofType('serve'),
      mergeMap(({ connection, begun }) => serveCall(connection, begun, { ...world, end$ })),
    ),
    effect$.pipe(
      ofType('write'),
      mergeMap(({ turn }) => turn.written$),
      map((event): StreamsEvent => ({ type: 'ads-event', event })),
    ),
    effect$.pipe(ofType('refuse'), mergeMap(refused)),
  );
}

function refused({
  connection,
  call,
  code,
  reason,
  isReported,
}: Extract<StreamsEffect, { readonly type: 'refuse' }>): readonly StreamsEvent[] {
  call.emit('error', { code, details: reason });
  const address = call.getPeer();
  return isReported
    ? [{ type: 'ads-event', event: { type: 'stream-refused', connection, address, reason } }]
    : [];
}
