// Why: docs/decisions/043-one-push-is-in-flight.md
import type { ServerDuplexStream } from '@grpc/grpc-js';
import {
  catchError,
  concat,
  defer,
  distinctUntilChanged,
  EMPTY,
  filter,
  fromEvent,
  map,
  merge,
  mergeMap,
  type Observable,
  of,
  partition,
  take,
  takeUntil,
} from 'rxjs';
import { reduceWithEffects, type Transition } from '../../../operators/reduce-with-effects.ts';
import { ofType } from '../../../operators/tagged-union.ts';
import type {
  DeltaDiscoveryRequest,
  DiscoveryRequest,
} from '../../../shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import type { SecretBook } from '../secret-book.ts';
import { type Encoding, secretTypeUrl, toStreamRequest } from './sds-messages.ts';
import { initialStream, reduceStream, type StreamState } from './stream.ts';
import type { StreamEffect, StreamEvent, StreamOutput, StreamRequest } from './stream-event.ts';
import type { SdsEvent } from './sds-telemetry.ts';

/**
 * Runs one stream of the secret discovery protocol: takes requests, and emits outputs with the node
 * id of the client. Follows a secret of the book as long as the client wants it.
 *
 * Cold; never completes: it is unsubscribed when the stream is over. Errors only if `request$`
 * does.
 */
export function sdsStream(
  request$: Observable<StreamRequest>,
  book: Pick<SecretBook, 'get'>,
): Observable<NodeOutput> {
  return request$.pipe(
    map((request): StreamEvent => ({ type: 'request', request })),
    reduceWithEffects(initialStream, reduceStream, carryOut),
    mergeMap(outputOf),
  );

  function carryOut(effect$: Observable<StreamEffect>): Observable<StreamEvent> {
    const unwatch$ = effect$.pipe(ofType('unwatch'));
    return merge(
      effect$.pipe(filter((effect) => effect.type !== 'watch' && effect.type !== 'unwatch')),
      effect$.pipe(
        ofType('watch'),
        mergeMap(({ name }) =>
          follow(name, book).pipe(takeUntil(unwatch$.pipe(filter((gone) => gone.name === name)))),
        ),
      ),
    );
  }
}

/** Emits each version of a secret that Envoy should have, or why there is none. */
function follow(name: string, book: Pick<SecretBook, 'get'>): Observable<StreamEvent> {
  return book.get(name).pipe(
    distinctUntilChanged(
      (a, b) => b.offered !== undefined && a.offered?.version === b.offered.version,
    ),
    mergeMap(({ offered, refused }): readonly StreamEvent[] => {
      if (offered !== undefined)
        return [{ type: 'secret', name, secret: offered.secret, version: offered.version }];
      return refused === undefined ? [] : [{ type: 'missing', name, reason: refused }];
    }),
  );
}

function outputOf({
  event,
  state: { node },
}: Transition<StreamState, StreamEvent>): readonly NodeOutput[] {
  return event.type === 'request' || event.type === 'secret' ? [] : [{ ...event, node }];
}

/** INVALID_ARGUMENT and INTERNAL: https://grpc.io/docs/guides/status-codes/ */
const statusCodes = { invalidArgument: 3, internal: 13 };

/**
 * Serves one gRPC stream. Emits events from `stream-opened` to `stream-closed`, and completes when
 * either side ends the stream. `encoding` writes the answers. If something throws, only this stream
 * ends, with an error; Envoy then opens another one.
 *
 * Cold, for one subscriber; on unsubscribe it releases the secrets. Never errors.
 */
export function serveStream<Response>(
  stream: number,
  call: SdsCall<Response>,
  book: Pick<SecretBook, 'get'>,
  encoding: Encoding<Response>,
): Observable<SdsEvent> {
  return defer(() => {
    const over$ = merge(
      fromEvent(call, 'end'),
      fromEvent(call, 'cancelled'),
      fromEvent(call, 'error'),
    ).pipe(take(1));
    return concat(
      of<SdsEvent>({ type: 'stream-opened', stream }),
      outputs(call, book).pipe(
        mergeMap((output) => answer(output, { stream, call, encoding })),
        catchError((error: unknown) =>
          concat(
            of<SdsEvent>({ type: 'stream-failed', error }),
            end(call, statusCodes.internal, String(error)),
          ),
        ),
        takeUntil(over$),
      ),
      defer(() => {
        call.end(); // in case that the client has ended only its half
        return of<SdsEvent>({ type: 'stream-closed', stream });
      }),
    );
  });
}

type SdsCall<Response> = ServerDuplexStream<DiscoveryRequest | DeltaDiscoveryRequest, Response>;
type NodeOutput = StreamOutput & { readonly node: string };

/** Emits the outputs for the requests of a call. A request of another type ends the stream. */
function outputs<Response>(
  call: SdsCall<Response>,
  book: Pick<SecretBook, 'get'>,
): Observable<NodeOutput> {
  const message$ = fromEvent(call, 'data') as Observable<DiscoveryRequest | DeltaDiscoveryRequest>;
  const [foreign$, ours$] = partition(
    message$,
    ({ typeUrl }) => typeUrl !== '' && typeUrl !== secretTypeUrl,
  );
  return merge(
    foreign$.pipe(
      map(
        ({ typeUrl }) =>
          ({ type: 'end', reason: `${typeUrl} is not served here`, node: '' }) as const,
      ),
    ),
    sdsStream(ours$.pipe(map(toStreamRequest)), book),
  );
}

interface Client<Response> {
  readonly stream: number;
  readonly call: SdsCall<Response>;
  readonly encoding: Encoding<Response>;
}

/** Sends an answer or an end to the client. Emits the events to log and count. */
function answer<Response>(
  { node, ...output }: NodeOutput,
  { stream, call, encoding }: Client<Response>,
): Observable<SdsEvent> {
  switch (output.type) {
    case 'push': {
      call.write(encoding.push(output.push));
      const versions = new Map(
        [...output.push.secrets].map(([name, { version }]) => [name, version]),
      );
      return of({ type: 'pushed', stream, node, versions });
    }
    case 'decline':
      call.write(encoding.decline(output.nonce, output.names));
      return EMPTY;
    case 'end': {
      const { reason } = output;
      return concat(
        of<SdsEvent>({ type: 'stream-refused', stream, reason }),
        end(call, statusCodes.invalidArgument, reason),
      );
    }
    default:
      return of({ ...output, stream, node });
  }
}

function end<Response>(call: SdsCall<Response>, code: number, details: string): Observable<never> {
  return defer(() => {
    call.emit('error', { code, details });
    return EMPTY;
  });
}
