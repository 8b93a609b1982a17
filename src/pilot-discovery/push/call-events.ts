import {
  connect,
  EMPTY,
  fromEvent,
  map,
  merge,
  mergeMap,
  Observable,
  of,
  type SchedulerLike,
  switchMap,
  take,
  tap,
  timeout,
  timer,
} from 'rxjs';
import type { fairSlices } from '../../operators/fair-slices.ts';
import { ofType } from '../../operators/tagged-union.ts';
import type { Node } from '../../shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import type { EnvoyRequest } from '../../shared/xds/messages.ts';
import type { AdsEvent } from './ads-event.ts';
import type { StreamsEnd } from './call-sign.ts';
import { clientLimits } from './client-limits.ts';
import { type ConfigView, isConfigClient } from './config-view.ts';
import type { Begun, Call, StreamMessage } from './first-request.ts';
import { type CallEvent, type CallFault, statusCodes } from './reduce-call.ts';
import type { SecretsSign } from './secrets-sign.ts';
import type { View } from './view.ts';

/** The sources of the events of a stream, except its proxy. */
export interface CallSources {
  /**
   * Returns the views of a proxy: the present one at once, if there is one, then each newer one. If
   * it gets none, returns the reason as a text. `comes` says whether it has resources already.
   */
  readonly viewFor$: (node: Node, comes: Comes) => Observable<View> | string;
  /**
   * Returns the resources of Istio that a control plane with this node reads: the present ones at
   * once, if there are any, then those after each change.
   */
  readonly configFor$: (node: Node, comes: Comes) => Observable<ConfigView>;
  /** Returns why the client of a stream may not be this node; undefined if it may. */
  readonly nodeFlaw: (call: Call, node: Node) => string | undefined;
  /** Emits the secrets that the client of a stream may have, of those that it names. */
  readonly secretsFor$: (call: Call, names: ReadonlySet<string>) => Observable<SecretsSign>;
  /** The ends of streams: this one and others. */
  readonly end$: Observable<StreamsEnd>;
  /** Lets other work have its turn if many streams have something to do: {@link fairSlices}. */
  readonly inSlices$: ReturnType<typeof fairSlices>;
  readonly scheduler: SchedulerLike;
}

/** Whether a client has resources already. */
export type Comes = 'empty-handed' | 'with-versions';

/**
 * Emits the events of a stream that has begun: its requests, the views for its proxy, and its end.
 * Cold, for one subscriber; never completes, and errors only because of a bug.
 */
export function callEvents(
  connection: number,
  { variant, call, first }: Begun,
  sources: CallSources,
): Observable<CallEvent> {
  const address = call.getPeer();
  const ends$ = sources.end$.pipe(mergeMap((end) => endOf(connection, end, sources.scheduler)));
  const read$ = messages(call, first, sources).pipe(
    map((message) => eventOf(message, (node) => sources.nodeFlaw(call, node))),
    connect((event$) => {
      const named$ = event$.pipe(
        ofType('request'),
        take(1),
        mergeMap(({ request: { node, names } }) => (node === undefined ? [] : [{ node, names }])),
      );
      return merge(
        named$.pipe(
          map(({ node }): AdsEvent => ({ type: 'connected', connection, node, variant, address })),
          map((event) => ({ type: 'ads-event', event }) as const),
        ),
        event$,
        named$.pipe(switchMap(({ node, names }) => views(node, names, sources))),
      );
    }),
  );
  return merge(ends$, read$);
}

type Read = Extract<CallEvent, { readonly type: 'request' | 'fault' }>;

/** Returns a request, or why the stream ends because of it. */
function eventOf(message: StreamMessage, flawOf: (node: Node) => string | undefined): Read {
  if (message.type === 'refused') return fault(statusCodes.exhausted, message.reason);
  const { request } = message;
  const flaw = request.node && flawOf(request.node);
  return flaw === undefined
    ? { type: 'request', request }
    : fault(statusCodes.permissionDenied, flaw);
}

/**
 * Emits the messages of a stream that was paused after its first one. If a message waits for its
 * turn, the stream is paused until then.
 */
function messages(
  call: Call,
  first: StreamMessage,
  { inSlices$ }: Pick<CallSources, 'inSlices$'>,
): Observable<StreamMessage> {
  const later$ = new Observable<StreamMessage>((subscriber) => {
    const message$ = fromEvent(call, 'data') as Observable<StreamMessage>;
    const waiting = { messages: 0 };
    subscriber.add(
      message$
        .pipe(
          tap(() => (waiting.messages += 1)),
          inSlices$,
        )
        .subscribe({
          next: (message) => {
            waiting.messages -= 1;
            subscriber.next(message);
            if (call.isPaused()) call.resume();
          },
          error: (bug: unknown) => subscriber.error(bug),
        }),
    );
    subscriber.add(
      message$.subscribe({
        next: () => {
          if (waiting.messages > 0) call.pause();
        },
        error: (bug: unknown) => subscriber.error(bug),
      }),
    );
    call.resume();
  });
  return merge(of(first), later$);
}

function fault(code: number, reason: string): Extract<CallEvent, { readonly type: 'fault' }> {
  return { type: 'fault', fault: { how: 'status', code, reason } };
}

/** Emits the views of a client. If it gets none, now or after a wait, emits a fault. */
function views(
  node: Node,
  names: EnvoyRequest['names'],
  sources: CallSources,
): Observable<CallEvent> {
  const { inSlices$, scheduler } = sources;
  const isNew =
    names.kind === 'all' ? names.version === '' : Object.keys(names.versions).length === 0;
  const view$ = nodeViews(node, isNew ? 'empty-handed' : 'with-versions', sources);
  if (typeof view$ === 'string') return of(fault(statusCodes.invalidArgument, view$));
  const reason = 'not all sources are read yet, or they are empty';
  return view$.pipe(
    timeout({
      first: clientLimits.firstSnapshot.value,
      with: () => of(fault(statusCodes.unavailable, reason)),
      scheduler,
    }),
    inSlices$,
  );
}

function nodeViews(
  node: Node,
  comes: Comes,
  { viewFor$, configFor$ }: CallSources,
): Observable<CallEvent> | string {
  if (isConfigClient(node))
    return configFor$(node, comes).pipe(map((view): CallEvent => ({ type: 'config', view })));
  const nodeView$ = viewFor$(node, comes);
  return typeof nodeView$ === 'string'
    ? nodeView$
    : nodeView$.pipe(map((view): CallEvent => ({ type: 'view', view })));
}

function endOf(
  connection: number,
  { after, why }: StreamsEnd,
  scheduler: SchedulerLike,
): Observable<CallEvent> {
  const ms = after.get(connection);
  if (ms === undefined) return EMPTY;
  const callFault: CallFault =
    why === 'the server ends'
      ? { how: 'quietly', code: statusCodes.unavailable, reason: 'the control plane ends' }
      : {
          how: 'at once',
          why: 'stuck',
          reason: `it has not read an answer for ${clientLimits.late.value / 1_000} s, and others wait`,
        };
  const fault: CallEvent = { type: 'fault', fault: callFault };
  return ms === 0 ? of(fault) : timer(ms, scheduler).pipe(map(() => fault));
}
