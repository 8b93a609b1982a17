import { connect, defer, filter, map, merge, mergeMap, type Observable, share } from 'rxjs';
import { reduceWithEffects } from '../../operators/reduce-with-effects.ts';
import { ofType } from '../../operators/tagged-union.ts';
import type { AdsEvent } from './ads-event.ts';
import type { CallSources } from './call-events.ts';
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

type CallSource = 'viewFor$' | 'nodeFlaw' | 'secretsFor$' | 'scheduler';

export interface AdsOptions extends Pick<CallSources, CallSource> {
  /** The name of the control plane in its answers. */
  readonly controlPlane: string;
  /** The number of proxies that are written to at once. */
  readonly throttle: number;
  /** Emits when the streams have to end: the ms over which they end, one after the other. */
  readonly drain$: Observable<number>;
}

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
    const event$ = merge(
      drain$.pipe(map((ms): StreamsEvent => ({ type: 'drain', ms }))),
      firstRequests(call$, silence, scheduler),
    );
    const said$ = event$.pipe(
      reduceWithEffects<StreamsState, StreamsEvent, StreamsEffect>(
        noStreams,
        reduceStreams,
        (effect$) => carryOut(effect$, { ...sources, encode }, throttle),
      ),
      mergeMap(({ event }) => (event.type === 'ads-event' ? [event.event] : [])),
    );
    return merge(said$, forget$);
  });
}

function carryOut(
  effect$: Observable<StreamsEffect>,
  world: Omit<CallWorld, 'end$'>,
  throttle: number,
): Observable<StreamsEvent> {
  const end$ = effect$.pipe(ofType('end'), share());
  const served$ = effect$.pipe(
    ofType('serve'),
    mergeMap(({ connection, begun }) => serveCall(connection, begun, { ...world, end$ })),
    connect((sign$) =>
      merge(
        sign$.pipe(filter((sign) => sign.type !== 'turn')),
        sign$.pipe(
          ofType('turn'),
          mergeMap(({ written$ }) => written$, throttle),
          map((event): StreamsEvent => ({ type: 'ads-event', event })),
        ),
      ),
    ),
  );
  return merge(served$, effect$.pipe(ofType('refuse'), mergeMap(refused)));
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
