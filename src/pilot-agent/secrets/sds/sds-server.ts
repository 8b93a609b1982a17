import type * as Grpc from '@grpc/grpc-js';
import { type Observable, tap } from 'rxjs';
import { grpcOnSocket } from '../../../shared/grpc/grpc-on-socket.ts';
import type { SecretBook } from '../secret-book.ts';
import type { SecretAnswer } from '../secret.ts';
import type { SdsEvent } from './sds-telemetry.ts';

/** If a client does not answer a ping, its streams are closed. In ms. */
const options = { 'grpc.keepalive_time_ms': 60_000, 'grpc.keepalive_timeout_ms': 20_000 };

/**
 * Serves the secrets of `book` by Envoy's secret discovery protocol (v3) on a Unix socket at
 * `path`, mode 0600, whose folder exists. Listens on subscribe; closes, with all streams, on
 * unsubscribe. Passes each push, ACK and NACK to the book.
 *
 * Emits `listening` or `failed`, then the events of its streams. gRPC is loaded for the first
 * client; `failed` follows `listening` if gRPC cannot be set up. Never completes, never errors.
 */
export function sdsServer(path: string, book: SecretBook): Observable<SdsEvent> {
  const load = async () => {
    const module = await import('./serve-secrets.ts');
    return (server: Grpc.Server, grpc: typeof Grpc) => module.serveSecrets(server, grpc, book);
  };
  return grpcOnSocket(path, load, { isEager: false, server: options }).pipe(
    tap((event) => answersIn(event).forEach(([name, answer]) => book.answered(name, answer))),
  );
}

/** Returns the pushes, ACKs or NACKs in an event, each with the name of its secret. */
function answersIn(event: SdsEvent): readonly (readonly [name: string, answer: SecretAnswer])[] {
  if (event.type === 'rejected')
    return [...event.versions].map(([name, version]) => [
      name,
      { type: event.type, version, reason: event.reason },
    ]);
  if (event.type !== 'pushed' && event.type !== 'accepted') return [];
  return [...event.versions].map(([name, version]) => [name, { type: event.type, version }]);
}
