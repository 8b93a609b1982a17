import { Observable } from 'rxjs';
import { type Settled, settle } from '../operators/settle.ts';

export interface HttpAnswer {
  readonly status: number;
  readonly body: string;
}

export interface HttpQuestion {
  readonly method?: 'GET' | 'PUT' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** In bytes. Whoever is asked has no more than a page to say. */
const largestBody = 1 << 20;

/**
 * Asks an `http` or `https` URL once, on subscribe, over a connection of its own; emits the whole
 * answer, or what went wrong, and completes. Redirects are not followed. Never errors, and has no
 * time limit: unsubscribing abandons the request.
 */
export function httpAnswer(
  url: string,
  { method = 'GET', headers = {}, body: sent = '' }: HttpQuestion = {},
): Observable<Settled<HttpAnswer>> {
  return new Observable<HttpAnswer>((subscriber) => {
    // Loaded only where it is needed, and not by import(): the bundle is a script of node:vm, in
    // which that finds none of Node's own modules.
    const { request: open } = process.getBuiltinModule(new URL(url).protocol === 'https:' ? 'node:https' : 'node:http');
    const request = open(url, { method, headers, agent: false });
    request.on('error', (error) => subscriber.error(error));
    request.on('response', (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (piece: string) => {
        body += piece;
        if (body.length > largestBody) request.destroy(new Error(`the answer is larger than ${largestBody} bytes`));
      });
      response.on('error', (error) => subscriber.error(error));
      response.on('end', () => {
        subscriber.next({ status: response.statusCode ?? 0, body });
        subscriber.complete();
      });
    });
    request.end(sent);
    return () => request.destroy();
  }).pipe(settle());
}
