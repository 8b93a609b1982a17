import type { ClientRequest, IncomingMessage } from 'node:http';
import { Observable } from 'rxjs';

/**
 * Sends the request that `open` makes, on subscribe; emits the answer when its head has arrived,
 * and completes at its end. Errors if anything fails before that. Unsubscribing cancels the
 * request, or the rest of the answer.
 *
 * @param failure converts an error of the request itself
 */
export function answerOf(
  open: () => ClientRequest,
  body: string | Uint8Array,
  failure: (error: NodeJS.ErrnoException, request: ClientRequest) => Error = (error) => error,
): Observable<IncomingMessage> {
  return new Observable((subscriber) => {
    const request = open();
    let answer: IncomingMessage | undefined;
    // An error after a whole answer is not part of it.
    request.on('error', (error) => {
      if (answer?.complete !== true) subscriber.error(failure(error, request));
    });
    request.on('upgrade', () =>
      subscriber.error(new Error('it answers 101, another protocol, which nobody asked for')),
    );
    request.on('response', (response) => {
      answer = response;
      response
        .on('error', (error) => subscriber.error(error))
        .on('end', () => subscriber.complete());
      subscriber.next(response);
    });
    request.end(body);
    return () => request.destroy();
  });
}
