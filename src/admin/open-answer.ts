import { type IncomingMessage, type OutgoingHttpHeaders, request as httpRequest, type RequestOptions } from 'node:http';
import { asyncScheduler, Observable, retry, type SchedulerLike, throwError, timer } from 'rxjs';

class StaleConnection extends Error {}

/**
 * Asks over HTTP on subscribe; emits the answer when its head is there, and completes when its end is. Errors with what went wrong before that. Unsubscribing
 * abandons the request, or the rest of the answer: whoever is to read it stays subscribed until it has.
 */
export function openAnswer(options: RequestOptions, body = '', scheduler: SchedulerLike = asyncScheduler): Observable<IncomingMessage> {
  return new Observable<IncomingMessage>((subscriber) => {
    const length = Buffer.byteLength(body);
    const headers: OutgoingHttpHeaders = options.method === 'POST' || length > 0 ? { 'content-length': length } : {};
    const request = httpRequest({ ...options, headers: { ...headers, ...(options.headers as OutgoingHttpHeaders) } });
    request.on('error', (error: NodeJS.ErrnoException) =>
      subscriber.error(request.reusedSocket && error.code === 'ECONNRESET' ? new StaleConnection(error.message) : error),
    );
    request.on('response', (response) => {
      response.on('error', (error) => subscriber.error(error)).on('end', () => subscriber.complete());
      subscriber.next(response);
    });
    request.end(body);
    return () => request.destroy();
  }).pipe(
    // A server may close a kept connection in the moment that it is used again, which says nothing about the server.
    retry({
      count: 2,
      delay: (error: Error) => (error instanceof StaleConnection ? timer(0, scheduler) : throwError(() => error)),
    }),
  );
}
