import { chmodSync, lstatSync, renameSync } from 'node:fs';
import { connect } from 'node:net';
import type * as Grpc from '@grpc/grpc-js';
import type { sendUnaryData, ServerDuplexStream, ServerUnaryCall } from '@grpc/grpc-js';
import { catchError, concat, defer, from, ignoreElements, map, mergeAll, NEVER, Observable, of, switchMap, take, tap } from 'rxjs';
import { remove } from '../files/whole-file.ts';
import { grpcDefinition } from '../grpc/grpc-definition.ts';
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

/** What sockaddr_un holds, less its final zero (unix(7)). In bytes. */
const longest = 107;
/** It is bound under a longer name first. In bytes. */
const suffix = 4;

/**
 * Emits why no server can listen at `path`, or undefined if one can, and completes. Cold; never
 * errors.
 *
 * A socket that somebody answers on is in use; one that is left over from a dead process is not.
 * What is no socket is never taken away.
 */
function claimSocket(path: string): Observable<string | undefined> {
  return defer(() => {
    if (Buffer.byteLength(path) > longest - suffix) return of(`${path}: the path of a socket has ${longest - suffix} bytes at most`);
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return of(undefined);
    if (!stats.isSocket()) return of(`${path} is there already, and is no socket`);
    return isServed(path).pipe(map((served) => (served ? `${path} is served by another process` : undefined)));
  }).pipe(catchError((error: unknown) => of((error as Error).message)));
}

/** Emits whether somebody answers on a socket. */
function isServed(path: string): Observable<boolean> {
  return new Observable<boolean>((subscriber) => {
    const socket = connect(path);
    socket.on('connect', () => subscriber.next(true));
    socket.on('error', () => subscriber.next(false));
    return () => socket.destroy();
  }).pipe(take(1));
}

/** A client that does not answer a ping is gone: its streams are closed. In ms. */
const options = { 'grpc.keepalive_time_ms': 60_000, 'grpc.keepalive_timeout_ms': 20_000 };

/**
 * Serves the secrets of `book` by Envoy's secret discovery protocol (v3) on a Unix socket at
 * `path`, mode 0600, whose folder exists: listens on subscribe, and on unsubscribe closes with all
 * streams.
 *
 * Emits `listening` or `failed` once, then what happens on its streams. Never completes, never
 * errors. A socket that a dead process has left is replaced. Loads gRPC.
 */
export function sdsServer(path: string, book: SecretBook): Observable<SdsEvent> {
  return claimSocket(path).pipe(
    switchMap((reason) => {
      if (reason !== undefined) return concat(of<SdsEvent>({ type: 'failed', reason }), NEVER);
      return from(import('@grpc/grpc-js')).pipe(switchMap((grpc) => listen(path, book, grpc)));
    }),
  );
}

function listen(path: string, book: SecretBook, grpc: typeof Grpc): Observable<SdsEvent> {
  return serve(path, book, grpc).pipe(mergeAll());
}

/** Emits what is to be done about each call, and what becomes of the server itself. */
function serve(path: string, book: SecretBook, grpc: typeof Grpc): Observable<Observable<SdsEvent>> {
  return new Observable((subscriber) => {
    let streams = 0;
    grpc.setLogVerbosity(grpc.logVerbosity.NONE); // it writes to stderr what comes back as a reason
    const server = new grpc.Server(options);
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

    // Bound beside its place and then put there: it is never open to others, and takes the place of
    // a dead one in one step.
    const beside = `${path}.new`;
    remove(beside);
    let own: number | undefined;
    server.bindAsync(`unix:${beside}`, grpc.ServerCredentials.createInsecure(), (error) => {
      if (subscriber.closed) return;
      const placed = error === null ? place(beside, path) : ({ ok: false, reason: error.message } as const);
      if (placed.ok) own = placed.inode;
      subscriber.next(of(placed.ok ? { type: 'listening' } : { type: 'failed', reason: placed.reason }));
    });
    return () => {
      server.forceShutdown();
      if (own !== undefined && inodeOf(path) === own) remove(path);
    };
  });
}

/**
 * Puts a socket that is bound where it belongs, for its owner alone; or says why that cannot be.
 */
function place(
  beside: string,
  path: string,
): { readonly ok: true; readonly inode: number | undefined } | { readonly ok: false; readonly reason: string } {
  // prettier-ignore
  try {
    chmodSync(beside, 0o600);
    renameSync(beside, path);
    return { ok: true, inode: inodeOf(path) };
  } catch (error) {
    return { ok: false, reason: (error as Error).message };
  }
}

function inodeOf(path: string): number | undefined {
  try {
    return lstatSync(path).ino;
  } catch {
    return undefined; // it is gone
  }
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
