import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';

/** Ends an answer: a status, and a line of text if there is something to say. */
export function answer(response: ServerResponse, status: number, body = '', headers: OutgoingHttpHeaders = {}): void {
  const text = body === '' ? '' : `${body}\n`;
  response
    .writeHead(status, {
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'content-length': Buffer.byteLength(text),
      ...headers,
    })
    .end(text);
}
