import type { Agent, IncomingHttpHeaders, IncomingMessage, RequestOptions } from 'node:http';
import type { Readable } from 'node:stream';
import { isIP, type LookupFunction, type Socket } from 'node:net';
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
  readonly method?: 'GET' | 'PUT' | 'POST' | 'PATCH';
  readonly headers?: Readonly<Record<string, string>>;
  /** Bytes, if it contains a secret, which must not become a string in the heap. */
  readonly body?: string | Uint8Array;
  /** PEM of the roots that verify an `https` server; Node's roots if left out. */
  readonly ca?: string | Buffer;
  /** PEM of the client's certificate. */
  readonly cert?: string | Buffer;
  readonly key?: Buffer;
  /** The name that the server's certificate must have, if it is not the host of the URL. */
  readonly servername?: string;
  /** The path of the Unix socket to use, whatever host the URL has. */
  readonly socketPath?: string;
  /** How the host is looked up; if left out, as {@link localLookup} does. */
  readonly lookup?: LookupFunction;
  /** The proxy for the URL, unless the URL is an exception or on this machine. */
  readonly proxy?: OutsideProxy | undefined;
  /** The agent whose connections are used; without one, each request has its own connection. */
  readonly agent?: Agent | false;
}

/** In bytes. The servers that are asked here answer with a page at most. */
const largestBody = 1 << 20;

/**
 * Asks an `http` or `https` URL once, on subscribe, over a separate connection; emits the whole
 * answer, or the error, and completes. Does not follow redirects. Never errors, and has no time
 * limit: unsubscribing cancels the request.
 *
 * @param largest the largest body, in bytes
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
 * Asks in the same way, and emits the answer when its head has arrived; completes at its end. The
 * reader of the body subscribes to it then, and stays subscribed until it has read all:
 * unsubscribing cancels the request, or the rest of the answer. Errors if anything fails.
 */
export function openHttp(
  url: string,
  { proxy, ...question }: HttpQuestion = {},
): Observable<IncomingMessage> {
  return defer(() => {
    const to = new URL(url);
    if (proxy === undefined || !isProxied(to, proxy)) return ask(url, question);
    if (to.protocol === 'http:') return ask(url, question, toProxy(to, proxy.url));
    return tunnel(to, proxy.url).pipe(
      switchMap((socket) => ask(url, question, through(socket, to, question))),
    );
  });
}

/**
 * Returns how TLS verifies a server: by `ca`, in which each certificate is a trust anchor, even an
 * intermediate one, as in Go and in Envoy; without `ca` as Node does. Pure.
 */
export function trustAnchors<T>(ca: T | undefined): {
  readonly ca?: T;
  readonly allowPartialTrustChain?: true;
} {
  // With only the option, Node 20 leaves out the CAs of NODE_EXTRA_CA_CERTS.
  return ca === undefined ? {} : { ca, allowPartialTrustChain: true };
}

/** Returns options for TLS with the server of a URL over an existing connection. */
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
  // Without an agent Node takes 80 as the usual port, and writes it into `Host`.
  return {
    agent: undefined,
    defaultPort: 443,
    createConnection: () => connect({ ...tls, ...(name !== undefined && { servername: name }) }),
  };
}

function ask(
  url: string,
  { method = 'GET', headers = {}, body = '', ca, ...more }: Omit<HttpQuestion, 'proxy'>,
  way: RequestOptions = {},
): Observable<IncomingMessage> {
  return answerOf(() => {
    // Loaded only if it is needed, and not by import(): the bundle is a script of node:vm, in which
    // import() finds none of Node's own modules.
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
 * Emits the whole content of a stream after its end, and completes. Errors as soon as that is more
 * than `largest` bytes, and with the stream.
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
