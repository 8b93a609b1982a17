import type { Agent, IncomingHttpHeaders, IncomingMessage, RequestOptions } from 'node:http';
import type { Readable } from 'node:stream';
import { isIP, type Socket } from 'node:net';
import { defer, map, mergeMap, Observable, switchMap } from 'rxjs';
import { answerOf } from './answer-of.ts';
import { localLookup } from './local-lookup.ts';
import { bare, isProxied, type OutsideProxy } from './outside-proxy.ts';
import { toProxy, tunnel } from './through-proxy.ts';
import { type Settled, settle } from '../../operators/settle.ts';

export interface HttpAnswer {
  readonly status: number;
  /** Names are in lower case. */
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface HttpQuestion {
  readonly method?: 'GET' | 'PUT' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** PEM of the roots that vouch for an `https` server; those of Node if left out. */
  readonly ca?: string | Buffer;
  /** PEM of what the client shows of itself. */
  readonly cert?: string | Buffer;
  readonly key?: Buffer;
  /** The name that the server's certificate has to have, where it is not the host of the URL. */
  readonly servername?: string;
  /** The path of a Unix socket that is asked, whatever host the URL has. */
  readonly socketPath?: string;
  /** Through which the URL is asked, unless it is an exception or of this machine. */
  readonly proxy?: OutsideProxy | undefined;
  /** Whose connections are used; without one, a connection is for one request alone. */
  readonly agent?: Agent | false;
}

/** In bytes. Whoever is asked has no more than a page to say. */
const largestBody = 1 << 20;

/**
 * Asks an `http` or `https` URL once, on subscribe, over a connection of its own; emits the whole
 * answer, or what went wrong, and completes. Redirects are not followed. Never errors, and has no
 * time limit: unsubscribing abandons the request.
 *
 * @param largest how many bytes the body may have
 */
export function httpAnswer(
  url: string,
  question: HttpQuestion = {},
  largest = largestBody,
): Observable<Settled<HttpAnswer>> {
  return openHttp(url, question).pipe(
    mergeMap((answer) =>
      bodyOf(answer, largest).pipe(
        map((body) => ({
          status: answer.statusCode ?? 0,
          headers: answer.headers,
          body: body.toString(),
        })),
      ),
    ),
    settle(),
  );
}

/**
 * Asks in the same way, and emits the answer when its head is there; completes when its end is.
 * Whoever is to read the body subscribes to it then, and stays subscribed until it has: to
 * unsubscribe abandons the request, or the rest of the answer. Errors with what went wrong.
 */
export function openHttp(
  url: string,
  { proxy, ...question }: HttpQuestion = {},
): Observable<IncomingMessage> {
  return defer(() => {
    const to = new URL(url);
    if (proxy === undefined || !isProxied(to, proxy)) return asked(url, question);
    if (to.protocol === 'http:') return asked(url, question, toProxy(to, proxy.url));
    return tunnel(to, proxy.url).pipe(
      switchMap((socket) => asked(url, question, through(socket, to, question))),
    );
  });
}

/**
 * How TLS trusts a server: by `ca`, of which each certificate is a trust anchor, an intermediate
 * one too, as in Go and in Envoy; without it as Node does. Pure.
 */
export function trustAnchors<T>(ca: T | undefined): {
  readonly ca?: T;
  readonly allowPartialTrustChain?: true;
} {
  // With the option alone, Node 20 leaves out the CAs of NODE_EXTRA_CA_CERTS.
  return ca === undefined ? {} : { ca, allowPartialTrustChain: true };
}

/** TLS with the server of a URL over a connection that is there. */
function through(
  socket: Socket,
  { hostname }: URL,
  { servername, ca, cert, key }: HttpQuestion,
): RequestOptions {
  const host = bare(hostname);
  const { connect } = process.getBuiltinModule('node:tls');
  const name = servername ?? (isIP(host) === 0 ? host : undefined);
  const tls = {
    socket,
    host,
    ...trustAnchors(ca),
    ...(cert !== undefined && { cert }),
    ...(key && { key }),
  };
  // Without an agent Node takes 80 for the usual port, and says so in `Host`.
  return {
    agent: undefined,
    defaultPort: 443,
    createConnection: () => connect({ ...tls, ...(name !== undefined && { servername: name }) }),
  };
}

function asked(
  url: string,
  { method = 'GET', headers = {}, body = '', ca, ...more }: Omit<HttpQuestion, 'proxy'>,
  way: RequestOptions = {},
): Observable<IncomingMessage> {
  return answerOf(() => {
    // Loaded only where it is needed, and not by import(): the bundle is a script of node:vm, in
    // which that finds none of Node's own modules.
    const { request: open } = process.getBuiltinModule(
      new URL(url).protocol === 'https:' ? 'node:https' : 'node:http',
    );
    const options = {
      method,
      agent: false as const,
      lookup: localLookup,
      ...trustAnchors(ca),
      ...more,
      ...way,
    };
    return open(url, {
      ...options,
      headers: { ...headers, ...(way.headers as HttpQuestion['headers']) },
    });
  }, body);
}

/**
 * Emits all that a stream has, once it has ended, and completes. Errors where that is more than
 * `largest` bytes, as soon as it is, and with the stream.
 */
export function bodyOf(stream: Readable, largest: number): Observable<Buffer> {
  return new Observable((subscriber) => {
    const pieces: Buffer[] = [];
    let size = 0;
    stream.on('data', (piece: Buffer) => {
      pieces.push(piece);
      size += piece.length;
      if (size > largest) subscriber.error(new Error(`the answer is larger than ${largest} bytes`));
    });
    stream.on('error', (error) => subscriber.error(error));
    stream.on('end', () => {
      subscriber.next(Buffer.concat(pieces));
      subscriber.complete();
    });
  });
}
