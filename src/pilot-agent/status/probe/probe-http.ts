import { type IncomingMessage, type OutgoingHttpHeaders, request as httpRequest } from 'node:http';
import { connect as connectHttp2, constants } from 'node:http2';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { catchError, Observable, of, switchMap, take, throwError } from 'rxjs';
import type { HttpProbe } from '../../config/app-probes.ts';
import { parseHostPort } from '../../../shared/text/host-port.ts';
import { mark } from './own-requests.ts';
import { hostsOf, lenient, openSocket } from '../../../shared/http/open-socket.ts';
import { requestPath } from './request-path.ts';
import { ownMember } from '../../../shared/text/own-member.ts';

/** The kubelet gives up at the tenth redirect, as Go's client does (`len(via) >= 10`). */
const mostRedirects = 9;
const redirects = [301, 302, 303, 307, 308];

type Address = Pick<HttpProbe, 'host' | 'port' | 'path' | 'secure'>;

/** The result of a probe. */
export interface ProbeAnswer {
  readonly status: number;
  /** The redirect of the application to another host, which was not followed. */
  readonly elsewhere?: string;
  /** Why the probe failed, if the application gave no status. */
  readonly reason?: string;
}

/**
 * Emits the application's answer, and completes. Errors if there is none.
 *
 * Sends the headers of the probe's own request, and the configured ones over them. Follows a
 * redirect to the same host; a redirect to another host counts as 200, as with the kubelet. Each
 * request has its own connection. Uses HTTP/2 with an HTTPS server that supports it, and with a
 * plaintext server that does not understand HTTP/1.1.
 */
export function probeHttp(
  probe: HttpProbe,
  localHosts: readonly string[],
  received: ReceivedHeaders,
): Observable<ProbeAnswer> {
  const headers = headersOf(probe, received);
  const host = typeof headers['host'] === 'string' ? headers['host'] : undefined;
  function at(address: Address, redirected: number): Observable<ProbeAnswer> {
    return ask(address, localHosts, headers, host).pipe(
      switchMap(({ status, location }) => {
        const next =
          redirects.includes(status) && location !== undefined
            ? follow(address, location)
            : undefined;
        if (next === undefined)
          return of(
            status >= 300 && status < 400 ? { status: 200, elsewhere: location ?? '' } : { status },
          );
        return redirected < mostRedirects
          ? at(next, redirected + 1)
          : throwError(() => new Error('too many redirects'));
      }),
    );
  }
  return at(probe, 0);
}

/** Each header with its values: a repeated header stays repeated. */
type ReceivedHeaders = Readonly<NodeJS.Dict<readonly string[]>>;

/** Headers of one request or one connection, which are not passed on. */
const ofRequest = new Set([
  'host',
  'connection',
  'keep-alive',
  'transfer-encoding',
  'content-length',
  'upgrade',
  'te',
  'expect',
]);

function headersOf(
  { headers: configured }: HttpProbe,
  received: ReceivedHeaders,
): Record<string, OutgoingHttpHeaders[string]> {
  const headers = new Map<string, readonly string[]>();
  for (const [name, values = []] of Object.entries(received))
    if (!ofRequest.has(name)) headers.set(name, values);
  const probeHeaders = new Map<string, readonly string[]>();
  for (const [name, value] of configured)
    probeHeaders.set(name.toLowerCase(), [...(probeHeaders.get(name.toLowerCase()) ?? []), value]);
  const entries = [...headers, ...probeHeaders].map(([name, values]) => [
    name,
    values.length === 1 || name === 'host' ? values[0] : [...values],
  ]);
  return { ...(Object.fromEntries(entries) as OutgoingHttpHeaders), ...mark };
}

function ask(
  { host, port, path, secure }: Address,
  localHosts: readonly string[],
  headers: OutgoingHttpHeaders,
  name: string | undefined,
): Observable<HttpHead> {
  const hosts = hostsOf(host, localHosts);
  const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const question = { authority, path: requestPath(path), headers: { host: authority, ...headers } };
  const tls = secure
    ? { name: name === undefined ? undefined : (parseHostPort(name)?.host ?? name) }
    : undefined;
  return openSocket(hosts, port, tls).pipe(
    switchMap((socket) =>
      speakHttp(
        socket instanceof TLSSocket && socket.alpnProtocol === 'h2' ? 2 : 1,
        socket,
        question,
      ),
    ),
    catchError((error: unknown) => {
      const isOther = String((error as NodeJS.ErrnoException).code).startsWith('HPE_') && !secure;
      return isOther
        ? openSocket(hosts, port).pipe(switchMap((socket) => speakHttp(2, socket, question)))
        : throwError(() => error as Error);
    }),
    take(1),
  );
}

function follow({ host, port, path, secure }: Address, location: string): Address | undefined {
  const base = new URL(
    `${secure ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}${path}`,
  );
  const url = URL.canParse(location, base.href) ? new URL(location, base) : undefined;
  if (url?.hostname !== base.hostname || !['http:', 'https:'].includes(url.protocol))
    return undefined;
  const standard = url.protocol === 'https:' ? 443 : 80;
  return {
    host,
    port: url.port === '' ? standard : Number(url.port),
    path: url.pathname + url.search,
    secure: url.protocol === 'https:',
  };
}

interface HttpQuestion {
  /** `host:port`. */
  readonly authority: string;
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
}

interface HttpHead {
  readonly status: number;
  readonly location: string | undefined;
}

/** Headers of one connection, which mean nothing on the next one, and are forbidden in HTTP/2. */
const ofConnection = [
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
  'te',
  'host',
  'content-length',
  'expect',
  'http2-settings',
];

/**
 * Sends a GET request on its own connection, and emits the head of the response. Errors if there is
 * no response. Unsubscribing ends the connection. With HTTP/2, both sides know beforehand that they
 * speak it.
 */
function speakHttp(version: 1 | 2, socket: Socket, question: HttpQuestion): Observable<HttpHead> {
  return version === 1 ? speakHttp1(socket, question) : speakHttp2(socket, question);
}

/** In characters: how much of a response is kept. */
const startOfAnswer = 16;

/**
 * If Node's parser refuses a response, its status line counts: the parser accepts less than Go's
 * client.
 */
function speakHttp1(socket: Socket, { path, headers }: HttpQuestion): Observable<HttpHead> {
  return new Observable((subscriber) => {
    let start = '';
    socket.on('data', (piece: Buffer) => {
      if (start.length < startOfAnswer) start += piece.toString('latin1', 0, startOfAnswer);
    });
    const request = httpRequest({
      path,
      headers: { ...headers, connection: 'close' },
      createConnection: () => socket,
      ...lenient,
    });
    const tell = ({
      statusCode: status = 0,
      headers: { location },
    }: Pick<IncomingMessage, 'statusCode' | 'headers'>) => {
      subscriber.next({ status, location });
      subscriber.complete();
    };
    request.on('error', (error: NodeJS.ErrnoException) => {
      const [, status] = /^HTTP\/1\.[01] ([1-9]\d\d)(?=[ \r\n])/.exec(start) ?? [];
      if (error.code?.startsWith('HPE_') === true && status !== undefined)
        tell({ statusCode: Number(status), headers: {} });
      else subscriber.error(error);
    });
    // Node emits another event for a response that changes the protocol (101).
    request.on('response', tell).on('upgrade', tell).end();
    return () => request.destroy();
  });
}

function speakHttp2(
  socket: Socket,
  { authority, path, headers }: HttpQuestion,
): Observable<HttpHead> {
  return new Observable((subscriber) => {
    const scheme = socket instanceof TLSSocket ? 'https' : 'http';
    const session = connectHttp2(`${scheme}://${authority}`, { createConnection: () => socket });
    const { host, ...otherHeaders } = headers;
    const fitting = Object.entries(otherHeaders).filter(
      ([name]) => !ofConnection.includes(name.toLowerCase()),
    );
    session.on('error', (error) => subscriber.error(error));
    const stream = session.request(
      {
        ...Object.fromEntries(fitting),
        ':path': path,
        ':authority': typeof host === 'string' ? host : authority,
      },
      { endStream: true },
    );
    stream
      .on('error', (error) => subscriber.error(error))
      .on('response', (head) => {
        subscriber.next({
          status: Number(ownMember(head, constants.HTTP2_HEADER_STATUS)),
          location: head.location,
        });
        subscriber.complete();
      });
    return () => {
      stream.close(constants.NGHTTP2_CANCEL);
      session.destroy();
    };
  });
}
