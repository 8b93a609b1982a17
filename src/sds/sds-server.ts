import type * as Grpc from '@grpc/grpc-js';
import type { sendUnaryData, ServerDuplexStream, ServerUnaryCall } from '@grpc/grpc-js';
import { catchError, ignoreElements, mergeAll, Observable, of, tap } from 'rxjs';
import { grpcDefinition } from '../grpc/grpc-definition.ts';
import { grpcOnSocket } from '../grpc/grpc-on-socket.ts';
import type {
  DeltaDiscoveryRequest,
  DeltaDiscoveryResponse,
  DiscoveryRequest,
  DiscoveryResponse,
} from '../proto/envoy/service/discovery/v3/discovery_pb.ts';
import { SecretDiscoveryService } from '../proto/envoy/service/secret/v3/sds_pb.ts';
import { type ListSecretsResponse, SecretsService } from '../proto/pilotagent/v1/secrets_pb.ts';
import type { SecretBook } from '../secrets/secret-book.ts';
import { fetchSecrets } from './fetch-secrets.ts';
import { listSecrets, toDeltaResponse, toResponse } from './messages.ts';
import { serveStream } from './serve-stream.ts';
import type { SdsEvent } from './telemetry.ts';

/** A client that does not answer a ping is gone: its streams are closed. In ms. */
const options = { 'grpc.keepalive_time_ms': 60_000, 'grpc.keepalive_timeout_ms': 20_000 };

/**
 * Serves the secrets of `book` by Envoy's secret discovery protocol (v3) on a Unix socket at
 * `path`, mode 0600, whose folder exists: listens on subscribe, and on unsubscribe closes with all
 * streams.
 *
 * Emits `listening` or `failed`, then what happens on its streams. `failed` comes after `listening`
 * where gRPC, which is loaded for the first client, cannot be set up. Never completes, never
 * errors.
 */
export function sdsServer(path: string, book: SecretBook): Observable<SdsEvent> {
  return grpcOnSocket(path, (server, grpc) => serve(server, grpc, book), { isEager: false, server: options });
}

/** What happens in the calls of the service. */
function serve(server: Grpc.Server, grpc: typeof Grpc, book: SecretBook): Observable<SdsEvent> {
  return new Observable<Observable<SdsEvent>>((subscriber) => {
    let streams = 0;
    server.addService(grpcDefinition(SecretDiscoveryService), {
      streamSecrets: (call: ServerDuplexStream<DiscoveryRequest, DiscoveryResponse>) =>
        subscriber.next(serveStream(++streams, call, book, toResponse)),
      deltaSecrets: (call: ServerDuplexStream<DeltaDiscoveryRequest, DeltaDiscoveryResponse>) =>
        subscriber.next(serveStream(++streams, call, book, toDeltaResponse)),
      fetchSecrets: ({ request }: ServerUnaryCall<DiscoveryRequest, DiscoveryResponse>, answer: sendUnaryData<DiscoveryResponse>) =>
        subscriber.next(serveFetch(request.resourceNames, book, answer, grpc.status)),
    });
    server.addService(grpcDefinition(SecretsService), {
      listSecrets: (_: unknown, answer: sendUnaryData<ListSecretsResponse>) => answer(null, listSecrets(book.states())),
    });
  }).pipe(mergeAll());
}

/** Answers one fetch, and completes. */
function serveFetch(
  names: readonly string[],
  book: SecretBook,
  answer: sendUnaryData<DiscoveryResponse>,
  status: typeof Grpc.status,
): Observable<SdsEvent> {
  return fetchSecrets(names, book).pipe(
    tap(({ push, missing }) => {
      if (missing.length === 0) answer(null, toResponse(push));
      else answer({ code: status.NOT_FOUND, details: `there is no secret ${missing.join(', ')}` });
    }),
    ignoreElements(),
    catchError((error: unknown) => {
      answer({ code: status.INTERNAL, details: String(error) });
      return of<SdsEvent>({ type: 'stream-failed', error });
    }),
  );
}
