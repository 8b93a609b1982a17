import { map, type Observable } from 'rxjs';
import { httpAnswer, type HttpQuestion } from '../../shared/http/http-answer.ts';

/**
 * The time limit for all answers of a metadata server, in ms. The Go agent has the same limit, but
 * in this agent nothing waits for the answers.
 */
export const platformLimit = 5_000;

/** A cloud's description of one of its machines. Only that machine can ask for it. */
export interface MetadataServer {
  /**
   * Asks for one value, on subscribe. Emits its text, or undefined if there is none, and completes.
   * Never errors, and has no time limit; unsubscribing aborts the request.
   */
  ask(path: string, question: HttpQuestion): Observable<string | undefined>;
}

/**
 * Returns the metadata server at `address`, a host with or without a port. The server is link-local
 * and speaks plain HTTP.
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
