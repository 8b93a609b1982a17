import { request } from 'node:http';

/** An answer over HTTP; `status` is 0 where nobody answers, and `body` is why. */
export interface Answer {
  readonly status: number;
  readonly body: string;
}

export interface Question {
  readonly method?: 'GET' | 'POST';
  /** The name in the request, where it is not `localhost`. */
  readonly host?: string;
  /** Further headers. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The address, where it is not 127.0.0.1. */
  readonly address?: string;
  /** In ms; default 5000. */
  readonly timeout?: number;
}

/** Asks a port of this machine, or a Unix socket, over a connection of its own. Never rejects. */
export function ask(
  to: number | string,
  path: string,
  {
    method = 'GET',
    host = 'localhost',
    headers = {},
    address = '127.0.0.1',
    timeout = 30_000,
  }: Question = {},
): Promise<Answer> {
  const target = typeof to === 'number' ? { host: address, port: to } : { socketPath: to };
  return new Promise((done) => {
    const fail = (error: Error) => done({ status: 0, body: error.message });
    const outgoing = request(
      { ...target, method, path, headers: { host, ...headers }, agent: false, timeout },
      (response) => {
        let body = '';
        response
          .setEncoding('utf8')
          .on('data', (piece: string) => (body += piece))
          .on('error', fail)
          .on('end', () => done({ status: response.statusCode ?? 0, body }));
      },
    );
    outgoing
      .on('error', fail)
      .on('timeout', () => outgoing.destroy(new Error(`no answer in ${timeout} ms`)))
      .end();
  });
}
