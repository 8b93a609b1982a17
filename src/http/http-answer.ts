import type { Agent, IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { map, mergeMap, Observable } from 'rxjs';
import { type Settled, settle } from '../operators/settle.ts';

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
export function httpAnswer(url: string, question: HttpQuestion = {}, largest = largestBody): Observable<Settled<HttpAnswer>> {
  return openHttp(url, question).pipe(
    mergeMap((answer) =>
      bodyOf(answer, largest).pipe(map((body) => ({ status: answer.statusCode ?? 0, headers: answer.headers, body: body.toString() }))),
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
  { method = 'GET', headers = {}, body = '', ...more }: HttpQuestion = {},
): Observable<IncomingMessage> {
  return new Observable<IncomingMessage>((subscriber) => {
    // Loaded only where it is needed, and not by import(): the bundle is a script of node:vm, in
    // which that finds none of Node's own modules.
    const { request: open } = process.getBuiltinModule(new URL(url).protocol === 'https:' ? 'node:https' : 'node:http');
    const request = open(url, { method, headers, agent: false, ...more });
    request.on('error', (error) => subscriber.error(error));
    request.on('response', (response) => {
      response.on('error', (error) => subscriber.error(error)).on('end', () => subscriber.complete());
      subscriber.next(response);
    });
    request.end(body);
    return () => request.destroy();
  });
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
