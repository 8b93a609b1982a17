import type * as Grpc from '@grpc/grpc-js';
import type { sendUnaryData, ServerDuplexStream, ServerUnaryCall } from '@grpc/grpc-js';
import { catchError, EMPTY, ignoreElements, mergeAll, Observable, of, tap } from 'rxjs';
import { grpcDefinition } from '../../../shared/grpc/grpc-definition.ts';
import type {
  DeltaDiscoveryRequest,
  DeltaDiscoveryResponse,
  DiscoveryRequest,
  DiscoveryResponse,
} from '../../../shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import { SecretDiscoveryService } from '../../../shared/proto/envoy/service/secret/v3/sds_pb.ts';
import {
  type ListSecretsResponse,
  SecretsService,
} from '../../../shared/proto/pilotagent/v1/secrets_pb.ts';
import type { SecretBook } from '../secret-book.ts';
import { fetchSecrets } from './fetch-secrets.ts';
import { namesFlaw } from './names-flaw.ts';
import { incremental, listSecrets, stateOfTheWorld, toResponse } from './sds-messages.ts';
import { serveStream } from './serve-stream.ts';
import type { SdsEvent } from './sds-telemetry.ts';

/**
 * Adds the secret discovery service, and the service that lists the secrets, to a gRPC server on
 * subscribe. Emits the events of their calls. Cold; never completes, never errors.
 */
export function serveSecrets(
  server: Grpc.Server,
  grpc: typeof Grpc,
  book: SecretBook,
): Observable<SdsEvent> {
  return new Observable<Observable<SdsEvent>>((subscriber) => {
    let streams = 0;
    server.addService(grpcDefinition(SecretDiscoveryService), {
      streamSecrets: (call: ServerDuplexStream<DiscoveryRequest, DiscoveryResponse>) =>
        subscriber.next(serveStream(++streams, call, book, stateOfTheWorld)),
      deltaSecrets: (call: ServerDuplexStream<DeltaDiscoveryRequest, DeltaDiscoveryResponse>) =>
        subscriber.next(serveStream(++streams, call, book, incremental)),
      fetchSecrets: (
        { request }: ServerUnaryCall<DiscoveryRequest, DiscoveryResponse>,
        answer: sendUnaryData<DiscoveryResponse>,
      ) => subscriber.next(serveFetch(request.resourceNames, book, answer, grpc.status)),
    });
    server.addService(grpcDefinition(SecretsService), {
      listSecrets: (_: unknown, answer: sendUnaryData<ListSecretsResponse>) =>
        answer(null, listSecrets(book.states())),
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
  const flaw = namesFlaw(names);
  if (flaw !== undefined) {
    answer({ code: status.INVALID_ARGUMENT, details: flaw });
    return EMPTY;
  }
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
