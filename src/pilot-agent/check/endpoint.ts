import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, type PeerCertificate, type TLSSocket } from 'node:tls';
import { concatMap, Observable, of, take, throwError, timeout } from 'rxjs';
import { connectionTrouble } from '../../shared/grpc/trouble.ts';
import { trustAnchors } from '../../shared/http/http-answer.ts';
import { addressesOf, localLookup } from '../../shared/http/local-lookup.ts';
import { settle } from '../../operators/settle.ts';

/** A gRPC server that the agent or Envoy talks to. */
export interface CheckedEndpoint {
  readonly host: string;
  readonly port: number;
  /** Undefined for plaintext. */
  readonly tls:
    | {
        /** PEM; undefined for the roots of Node. */
        readonly roots: Buffer | undefined;
        /** PEM of the client's pair. */
        readonly pair: { readonly chain: Buffer; readonly key: Buffer } | undefined;
        readonly serverName: string;
      }
    | undefined;
}

/** The certificate that the server presents. */
export interface ShownCertificate {
  readonly certificate: PeerCertificate;
  /** Why the roots do not vouch for the certificate; undefined if they do. */
  readonly untrusted: string | undefined;
}

type Stage = 'name' | 'connection' | 'tls' | 'entry' | 'protocol';

/**
 * How far a client gets. A server that speaks HTTP/2 over TLS and then closes the connection
 * refuses the `entry`. `date` is the server's time, from its response (ms since 1970).
 */
export type Reached =
  | { readonly stage: Stage; readonly reason: string; readonly shown?: ShownCertificate }
  | {
      readonly stage: 'all';
      readonly addresses: readonly string[];
      readonly shown?: ShownCertificate;
      readonly date?: number;
    };

/**
 * Time limits in ms: for each step, and for the response with the server's time, which not all
 * servers send.
 */
const patience = { step: 3_000, date: 1_000 };

/**
 * Contacts a server step by step: name, connection, TLS, HTTP/2. Emits how far it got, and
 * completes. Changes nothing on the server. Cold; never errors.
 */
export function reach(endpoint: CheckedEndpoint): Observable<Reached> {
  const { host, port } = endpoint;
  return step('name', addressesOf(host), (addresses) =>
    step(
      'connection',
      opened(
        () => connectTcp({ host, port, autoSelectFamily: true, lookup: localLookup }),
        'connect',
      ),
      (socket) =>
        secured(endpoint, socket, ({ socket: ready, shown }) =>
          step(
            (ready as Partial<TLSSocket>).alpnProtocol === 'h2' ? 'entry' : 'protocol',
            spoken(endpoint, ready),
            ({ date }) =>
              of<Reached>({
                stage: 'all',
                addresses,
                ...(shown && { shown }),
                ...(date !== undefined && { date }),
              }),
            shown,
          ),
        ),
    ),
  ).pipe(take(1));
}

interface Secured {
  readonly socket: Socket;
  readonly shown?: ShownCertificate;
}

function secured(
  { tls }: CheckedEndpoint,
  socket: Socket,
  then$: (ready: Secured) => Observable<Reached>,
): Observable<Reached> {
  if (tls === undefined) return then$({ socket });
  const { roots, pair, serverName } = tls;
  const tlsSocket = () =>
    connectTls({
      socket,
      ...(isIP(serverName) === 0 && { servername: serverName }),
      ...trustAnchors(roots), // as the agent itself connects
      ...(pair !== undefined && { cert: pair.chain, key: pair.key }),
      rejectUnauthorized: false, // its names must be reported in any case
      checkServerIdentity: () => undefined,
      ALPNProtocols: ['h2'],
    });
  return step('tls', opened(tlsSocket, 'secureConnect'), (ready: TLSSocket) => {
    const untrusted = ready.authorized ? undefined : String(ready.authorizationError);
    return then$({ socket: ready, shown: { certificate: ready.getPeerCertificate(), untrusted } });
  });
}

/** Passes the first value on to `then$`, or emits why none came in time. */
function step<T>(
  stage: Stage,
  attempt$: Observable<T>,
  then$: (value: T) => Observable<Reached>,
  shown?: ShownCertificate,
): Observable<Reached> {
  const late = `no answer within ${patience.step / 1_000} s`;
  return attempt$.pipe(
    timeout({ first: patience.step, with: () => throwError(() => new Error(late)) }),
    settle(),
    concatMap((outcome): Observable<Reached> =>
      outcome.ok
        ? then$(outcome.value)
        : of({
            stage,
            reason: reasonOf(outcome.error as NodeJS.ErrnoException),
            ...(shown && { shown }),
          }),
    ),
  );
}

function reasonOf({ code = '', message }: NodeJS.ErrnoException): string {
  if (/^E(?:AI_|NOTFOUND|NODATA)/.test(code)) return 'its name does not resolve';
  // If several addresses failed, the error has only a code.
  return connectionTrouble(message === '' ? code : message);
}

/** Emits the socket once it is ready; destroys it on unsubscribe. Never completes. */
function opened<S extends Socket>(
  open: () => S,
  ready: 'connect' | 'secureConnect',
): Observable<S> {
  return new Observable((subscriber) => {
    const socket = open();
    socket
      .on('error', (error) => subscriber.error(error))
      .once(ready, () => subscriber.next(socket));
    if (ready === 'secureConnect')
      socket.once('close', () =>
        subscriber.error(new Error('disconnected before secure TLS connection')),
      );
    return () => socket.destroy();
  });
}

/** The message of gRPC for Node. */
const notSpoken = new Error('Protocol error');

/** Emits once the server speaks HTTP/2, with the server's time if it sends that, and completes. */
function spoken(
  { host, port, tls }: CheckedEndpoint,
  socket: Socket,
): Observable<{ readonly date?: number }> {
  return new Observable((subscriber) => {
    const scheme = tls === undefined ? 'http' : 'https';
    const session: ClientHttp2Session = connectHttp2(
      `${scheme}://${isIP(host) === 6 ? `[${host}]` : host}:${port}`,
      {
        createConnection: () => socket,
      },
    );
    const done = (date?: number) => {
      subscriber.next(date === undefined ? {} : { date });
      subscriber.complete();
    };
    session.on('error', (error: NodeJS.ErrnoException) =>
      subscriber.error(error.code?.startsWith('ERR_HTTP2') === true ? notSpoken : error),
    );
    session.on('close', () => subscriber.error(notSpoken));
    session.once('remoteSettings', () => {
      const stream = session.request({ ':path': '/', ':method': 'HEAD' });
      stream.setTimeout(patience.date, () => done());
      stream
        .on('error', () => done())
        .on('close', () => done())
        .resume();
      stream.once('response', ({ date }) => {
        const serverTime = Date.parse(String(date));
        done(Number.isNaN(serverTime) ? undefined : serverTime);
      });
    });
    return () => session.destroy();
  });
}
