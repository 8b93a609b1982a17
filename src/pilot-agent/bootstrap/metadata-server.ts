import { map, type Observable } from 'rxjs';
import { httpAnswer, type HttpQuestion } from '../../shared/http/http-answer.ts';

/**
 * How long a metadata server is waited for in all, in ms: as in the Go agent, but nothing waits
 * meanwhile.
 */
export const platformLimit = 5_000;

/** A cloud's word on one of its machines, which only that machine can ask for. */
export interface MetadataServer {
  /**
   * Asks for one thing, on subscribe. Emits its text, or undefined where there is none to be had,
   * and completes. Never errors, and has no time limit; unsubscribing abandons the request.
   */
  ask(path: string, question: HttpQuestion): Observable<string | undefined>;
}

/**
 * The metadata server at `address`, a host with or without a port. It is link-local, and speaks
 * plain HTTP.
 */
export function metadataServer(address: string): MetadataServer {
  return {
    ask: (path, question) =>
      httpAnswer(`http://${address}${path}`, question).pipe(
        map((answer) => (answer.ok && answer.value.status === 200 ? answer.value.body.trim() : '')),
        map((text) => (text === '' ? undefined : text)),
      ),
  };
}
