import type * as Grpc from '@grpc/grpc-js';
import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  filter,
  from,
  fromEvent,
  ignoreElements,
  map,
  merge,
  mergeMap,
  NEVER,
  Observable,
  of,
  race,
  type SchedulerLike,
  share,
  Subject,
  switchMap,
  take,
  takeUntil,
  tap,
  timeout,
  timer,
} from 'rxjs';
import { reduceWithEffects } from '../../operators/reduce-with-effects.ts';
import type { Node } from '../../shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import { readRequest, type Variant } from '../../shared/xds/messages.ts';
import { adsDefinition } from './ads-definition.ts';
import type { AdsEvent } from './ads-event.ts';
import { clientLimits } from './client-limits.ts';
import { answerEncoder } from './encode-answer.ts';
import {
  type Begun,
  type Call,
  firstRequests,
  type StreamMessage,
  silence,
} from './first-request.ts';
import { patience } from './patience.ts';
import {
  type Answer,
  freshProxy,
  type ProxyEffect,
  type ProxyEvent,
  type ProxyStream,
} from './proxy-stream.ts';
import { reduceProxy } from './reduce-proxy.ts';
import { unreadAnswers } from './unread-answers.ts';
import { typeUrls, type View } from './view.ts';

export interface AdsOptions {
  /** The name of the control plane in its answers. */
  readonly controlPlane: string;
  /** The number of proxies to which answers are written at once. */
  readonly throttle: number;
  /**
   * Returns the views for a proxy: the current one at once, if there is one, then newer ones. A
   * text is the reason why the proxy gets none. `comes` says whether the proxy already has
   * resources.
   */
  readonly viewFor$: (
    node: Node,
    comes: 'empty-handed' | 'with-versions',
  ) => Observable<View> | string;
  /** Emits when the streams are to end, one after the other: the time for all of them, in ms. */
  readonly drain$: Observable<number>;
  readonly scheduler: SchedulerLike;
}

/** https://grpc.io/docs/guides/status-codes/ */
const statusCodes = { invalidArgument: 3, exhausted: 8, internal: 13, unavailable: 14 };

const faults = { shape: statusCodes.invalidArgument, limit: statusCodes.exhausted };

/**
 * A proxy that waits longer for its first view is refused, so that it asks another control plane.
 * In ms.
 */
const longestWait = clientLimits.firstSnapshot.value;
/** In ms. */
const longestWrite = clientLimits.writing.value;
const mostStreams = clientLimits.streams.value;

/**
 * Adds aggregated discovery (ADS, both variants) to a gRPC server, and emits the events of its
 * streams. Writes to at most `throttle` proxies at once; others wait for their turn. If something
 * throws on a stream, this stream ends with an error, and no other is affected. Never completes,
 * never errors.
 */
export function serveAds(
  server: Grpc.Server,
  { controlPlane, throttle, viewFor$, drain$, scheduler }: AdsOptions,
): Observable<AdsEvent> {
  return new Observable((subscriber) => {
    const { encode, forget$ } = answerEncoder(controlPlane, scheduler);
    const call$ = new Subject<readonly [Variant, Call]>();
    const write$ = new Subject<Observable<AdsEvent>>();
    const written$ = write$.pipe(mergeMap((one$) => one$, throttle));
    let connections = 0;
    let isDraining = false;
    /** Functions that each end one stream, in the order in which the streams began. */
    const leaves = new Set<() => void>();
    const drained$ = drain$.pipe(
      mergeMap((ms) => {
        isDraining = true;
        const all = [...leaves];
        return from(all).pipe(
          mergeMap((leave, index) => timer((ms * index) / all.length, scheduler).pipe(tap(leave))),
        );
      }),
      ignoreElements(),
    );
    const event$ = firstRequests(call$, silence, scheduler).pipe(
      mergeMap((sign) => {
        connections += 1;
        return sign.type === 'begun'
          ? serveStream(connections, sign)
          : refused(connections, sign.call, sign.reason);
      }),
    );
    subscriber.add(merge(written$, event$, drained$, forget$).subscribe(subscriber));
    const called = (variant: Variant) => (call: Call) => call$.next([variant, call]);
    server.addService(adsDefinition(), {
      streamAggregatedResources: called('state-of-the-world'),
      deltaAggregatedResources: called('delta'),
    });

    function refused(
      connection: number,
      call: Call,
      reason: string,
      code = statusCodes.exhausted,
    ): Observable<AdsEvent> {
      call.emit('error', { code, details: reason });
      return of({ type: 'stream-refused', connection, address: call.getPeer(), reason });
    }

    function serveStream(
      connection: number,
      { variant, call, first }: Begun,
    ): Observable<AdsEvent> {
      const address = call.getPeer();
      const leave = () => end(statusCodes.unavailable, 'the control plane ends');
      if (isDraining) {
        leave();
        return EMPTY;
      }
      if (leaves.size === mostStreams)
        return refused(connection, call, `${mostStreams} streams are open, which is the limit`);
      leaves.add(leave);
      const over$ = merge(
        fromEvent(call, 'end'),
        fromEvent(call, 'cancelled'),
        fromEvent(call, 'error'),
      ).pipe(take(1), share());
      const begin$ = new Subject<StreamMessage>();
      const message$ = merge(begin$, fromEvent(call, 'data') as Observable<StreamMessage>).pipe(
        share(),
      );
      const request$ = message$.pipe(
        filter((message) => message.$typeName !== 'refused'),
        map(readRequest),
        share(),
      );
      const undecoded$ = message$.pipe(
        filter((message) => message.$typeName === 'refused'),
        mergeMap(({ reason }) => refuse(reason, statusCodes.exhausted)),
      );
      const begun$ = new Observable<never>(() => {
        begin$.next(first);
        call.resume();
      });
      const first$ = request$.pipe(
        take(1),
        filter(({ node }) => node !== undefined),
      );
      const view$ = first$.pipe(
        switchMap(({ node, names }): Observable<ProxyEvent> => {
          const isNew =
            names.kind === 'all' ? names.version === '' : Object.keys(names.versions).length === 0;
          const found$ =
            node === undefined ? NEVER : viewFor$(node, isNew ? 'empty-handed' : 'with-versions');
          if (typeof found$ === 'string') return refuse(found$, statusCodes.invalidArgument);
          return found$.pipe(
            timeout({
              first: longestWait,
              with: () =>
                refuse('not all sources are read yet, or they are empty', statusCodes.unavailable),
            }),
            map((view) => ({ type: 'view', view })),
          );
        }),
      );
      const connected$ = first$.pipe(
        mergeMap(({ node }): readonly AdsEvent[] =>
          node === undefined ? [] : [{ type: 'connected', connection, node, variant, address }],
        ),
      );
      const refused$ = new Subject<AdsEvent>();
      const unread = unreadAnswers();
      const clusters$ = new Subject<void>();
      const asking$ = request$.pipe(map((request): ProxyEvent => ({ type: 'request', request })));
      const handled$ = merge(asking$, view$, patience(request$, clusters$)).pipe(
        reduceWithEffects<ProxyStream, ProxyEvent | Done, ProxyEffect>(
          freshProxy(variant),
          (state, event) => (event.type === 'done' ? [state, []] : reduceProxy(state, event)),
          (effect$) => effect$.pipe(concatMap((effect) => from(carryOut(effect)))),
        ),
        mergeMap(({ event }) => (event.type === 'done' ? [event.event] : [])),
      );
      return concat(
        merge(refused$, undecoded$, connected$, handled$, begun$).pipe(
          catchError((error: unknown) => {
            end(statusCodes.internal, `this is a bug: ${String(error)}`);
            return EMPTY;
          }),
          takeUntil(over$),
        ),
        defer(() => {
          leaves.delete(leave);
          call.end(); // needed if the client has ended its half
          return of<AdsEvent>({ type: 'disconnected', connection });
        }),
      );

      function carryOut(effect: ProxyEffect): readonly Done[] {
        switch (effect.type) {
          case 'answer':
            return [{ type: 'done', event: send(effect.answer) }];
          case 'asked':
          case 'accepted':
          case 'unsent':
          case 'unknown-type':
            return [{ type: 'done', event: { ...effect, connection } }];
          case 'rejected': {
            const { typeUrl, nonce, reason, blamed } = effect;
            const names = blamed.map(({ name }) => name);
            const keys = [...new Set(blamed.flatMap((resource) => resource.keys))];
            return [
              {
                type: 'done',
                event: { type: 'rejected', connection, typeUrl, nonce, reason, names, keys },
              },
            ];
          }
          case 'end':
            void refuse(effect.reason, faults[effect.fault]);
            return [];
        }
      }

      function send(answer: Answer): AdsEvent {
        if (answer.typeUrl === typeUrls.cluster) clusters$.next();
        const bytes = encode(answer, variant);
        const done$ = new Observable<void>((done) => {
          if (call.writableEnded || call.destroyed) done.complete();
          else if (unread.isTooMuch(bytes.length)) {
            const reason = `it accepts what it has not read: ${unread.count()} answers`;
            refused$.next({ type: 'stream-refused', connection, address, reason });
            call.destroy(new Error(reason)); // a status would be queued after them
          } else unread.write(call, bytes, () => done.next());
        });
        const queuedAt = scheduler.now();
        write$.next(
          defer(() => {
            const begunAt = scheduler.now();
            // A proxy that has not read the answer before is not waited for.
            const longest = unread.count() > 0 ? 0 : longestWrite;
            return race(done$, timer(longest, scheduler)).pipe(
              take(1),
              map((): AdsEvent => ({
                type: 'written',
                connection,
                queuedMs: begunAt - queuedAt,
                writingMs: scheduler.now() - begunAt,
              })),
              takeUntil(over$),
            );
          }),
        );
        const { typeUrl, nonce, version, snapshot, resources } = answer;
        return {
          type: 'answered',
          connection,
          typeUrl,
          nonce,
          version,
          snapshot,
          resources: resources.length,
          bytes: bytes.length,
        };
      }

      function refuse(reason: string, code: number): typeof EMPTY {
        refused$.next({ type: 'stream-refused', connection, address, reason });
        end(code, reason);
        return EMPTY;
      }

      function end(code: number, details: string): void {
        call.emit('error', { code, details });
      }
    }
  });
}

/** The result of an effect, for observers outside. It does not change the state. */
interface Done {
  readonly type: 'done';
  readonly event: AdsEvent;
}
