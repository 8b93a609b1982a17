import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, type PeerCertificate, type TLSSocket } from 'node:tls';
import { concatMap, Observable, of, take, throwError, timeout } from 'rxjs';
import { connectionTrouble } from '../../shared/grpc/trouble.ts';
import { trustAnchors } from '../../shared/http/http-answer.ts';
import { addressesOf, localLookup } from '../../shared/http/local-lookup.ts';
import { settle } from '../../operators/settle.ts';

/** A server of gRPC that agent or Envoy talks to. */
export interface CheckedEndpoint {
  readonly host: string;
  readonly port: number;
  /** Undefined for plaintext. */
  readonly tls:
    | {
        /** PEM; undefined for those of the machine. */
        readonly roots: Buffer | undefined;
        /** PEM of the pair that it is shown. */
        readonly pair: { readonly chain: Buffer; readonly key: Buffer } | undefined;
        readonly serverName: string;
      }
    | undefined;
}

/** What its certificate says. */
export interface ShownCertificate {
  readonly certificate: PeerCertificate;
  /** Why the roots do not vouch for it; undefined if they do. */
  readonly untrusted: string | undefined;
}

type Stage = 'name' | 'connection' | 'tls' | 'entry' | 'protocol';

/**
 * How far one comes. Who speaks HTTP/2 over TLS and then closes the connection refuses the `entry`.
 * `date` is the time there, as it says it (ms since 1970).
 */
export type Reached =
  | { readonly stage: Stage; readonly reason: string; readonly shown?: ShownCertificate }
  | {
      readonly stage: 'all';
      readonly addresses: readonly string[];
      readonly shown?: ShownCertificate;
      readonly date?: number;
    };

/** For each step; and for an answer with the time there, which not all give. In ms. */
const patience = { step: 3_000, date: 1_000 };

/**
 * Goes to a server step by step: name, connection, TLS, HTTP/2; emits how far that went, and
 * completes. Asks for nothing that would change something there. Cold; never errors.
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
  const asked = () =>
    connectTls({
      socket,
      ...(isIP(serverName) === 0 && { servername: serverName }),
      ...trustAnchors(roots), // as the agent itself connects
      ...(pair !== undefined && { cert: pair.chain, key: pair.key }),
      rejectUnauthorized: false, // its names are to be told in any case
      checkServerIdentity: () => undefined,
      ALPNProtocols: ['h2'],
    });
  return step('tls', opened(asked, 'secureConnect'), (ready: TLSSocket) => {
    const untrusted = ready.authorized ? undefined : String(ready.authorizationError);
    return then$({ socket: ready, shown: { certificate: ready.getPeerCertificate(), untrusted } });
  });
}

/** Goes on with what is emitted in time, or says why nothing is. */
function step<T>(
  stage: Stage,
  taken$: Observable<T>,
  then$: (value: T) => Observable<Reached>,
  shown?: ShownCertificate,
): Observable<Reached> {
  const late = `no answer within ${patience.step / 1_000} s`;
  return taken$.pipe(
    timeout({ first: patience.step, with: () => throwError(() => new Error(late)) }),
    settle(),
    concatMap((taken): Observable<Reached> =>
      taken.ok
        ? then$(taken.value)
        : of({
            stage,
            reason: reasonOf(taken.error as NodeJS.ErrnoException),
            ...(shown && { shown }),
          }),
    ),
  );
}

function reasonOf({ code = '', message }: NodeJS.ErrnoException): string {
  if (/^E(?:AI_|NOTFOUND|NODATA)/.test(code)) return 'its name does not resolve';
  return connectionTrouble(message === '' ? code : message); // of several addresses only the code is told
}

/** Emits a socket when it is there; closes it when nobody wants it any more. Never completes. */
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

/** In the words of gRPC for Node. */
const notSpoken = new Error('Protocol error');

/** Emits once HTTP/2 is spoken, with the time there if that is said, and completes. */
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
        const told = Date.parse(String(date));
        done(Number.isNaN(told) ? undefined : told);
      });
    });
    return () => session.destroy();
  });
}
