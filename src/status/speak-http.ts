import { type OutgoingHttpHeaders, request as httpRequest } from 'node:http';
import { connect as connectHttp2, constants } from 'node:http2';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { Observable } from 'rxjs';

export interface HttpQuestion {
  /** `host:port`. */
  readonly authority: string;
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
}

export interface HttpHead {
  readonly status: number;
  readonly location: string | undefined;
}

/** Headers of one connection, which mean nothing on the next one, and are forbidden in HTTP/2. */
const ofConnection = ['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade', 'te', 'host', 'content-length', 'expect', 'http2-settings']; // prettier-ignore

/**
 * Asks by GET on a connection that is nobody else's, and emits the head of the answer. Errors without one. Unsubscribing ends the connection. Of HTTP/2
 * both sides know beforehand that they speak it.
 */
export function speakHttp(version: 1 | 2, socket: Socket, question: HttpQuestion): Observable<HttpHead> {
  return version === 1 ? speakHttp1(socket, question) : speakHttp2(socket, question);
}

function speakHttp1(socket: Socket, { path, headers }: HttpQuestion): Observable<HttpHead> {
  return new Observable((subscriber) => {
    const request = httpRequest({ path, headers: { ...headers, connection: 'close' }, createConnection: () => socket });
    request.on('error', (error) => subscriber.error(error)).on('response', ({ statusCode = 0, headers: { location } }) => {
      subscriber.next({ status: statusCode, location });
      subscriber.complete();
    }).end(); // prettier-ignore
    return () => request.destroy();
  });
}

function speakHttp2(socket: Socket, { authority, path, headers }: HttpQuestion): Observable<HttpHead> {
  return new Observable((subscriber) => {
    const scheme = socket instanceof TLSSocket ? 'https' : 'http';
    const session = connectHttp2(`${scheme}://${authority}`, { createConnection: () => socket });
    const { host, ...given } = headers;
    const fitting = Object.entries(given).filter(([name]) => !ofConnection.includes(name.toLowerCase()));
    session.on('error', (error) => subscriber.error(error));
    const stream = session.request(
      { ...Object.fromEntries(fitting), ':path': path, ':authority': typeof host === 'string' ? host : authority },
      { endStream: true },
    );
    stream.on('error', (error) => subscriber.error(error)).on('response', (head) => {
      subscriber.next({ status: Number(head[constants.HTTP2_HEADER_STATUS]), location: head.location });
      subscriber.complete();
    }); // prettier-ignore
    return () => {
      stream.close(constants.NGHTTP2_CANCEL);
      session.destroy();
    };
  });
}
