import type * as Grpc from '@grpc/grpc-js';
import { type Observable, tap } from 'rxjs';
import { grpcOnSocket } from '../../../shared/grpc/grpc-on-socket.ts';
import type { SecretBook } from '../secret-book.ts';
import type { SecretAnswer } from '../secret.ts';
import type { SdsEvent } from './sds-telemetry.ts';

/** A client that does not answer a ping is gone: its streams are closed. In ms. */
const options = { 'grpc.keepalive_time_ms': 60_000, 'grpc.keepalive_timeout_ms': 20_000 };

/**
 * Serves the secrets of `book` by Envoy's secret discovery protocol (v3) on a Unix socket at
 * `path`, mode 0600, whose folder exists: listens on subscribe, and on unsubscribe closes with all
 * streams. The book is told what Envoy makes of each secret.
 *
 * Emits `listening` or `failed`, then what happens on its streams. `failed` comes after `listening`
 * where gRPC, which is loaded for the first client, cannot be set up. Never completes, never
 * errors.
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

/** What an Envoy was given, or has made of that, by the name of the secret. */
function answersIn(event: SdsEvent): readonly (readonly [name: string, answer: SecretAnswer])[] {
  if (event.type === 'rejected')
    return [...event.versions].map(([name, version]) => [
      name,
      { type: event.type, version, reason: event.reason },
    ]);
  if (event.type !== 'pushed' && event.type !== 'accepted') return [];
  return [...event.versions].map(([name, version]) => [name, { type: event.type, version }]);
}
