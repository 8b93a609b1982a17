import { request } from 'node:http';

/** An answer over HTTP. If there is no answer, `status` is 0 and `body` is the reason. */
export interface Answer {
  readonly status: number;
  readonly body: string;
}

export interface Question {
  readonly method?: 'GET' | 'POST';
  /** The `Host` of the request. Default: `localhost`. */
  readonly host?: string;
  /** Further headers. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: 127.0.0.1. */
  readonly address?: string;
  /** In ms; default 30,000. */
  readonly timeout?: number;
}

/**
 * Sends a request to a port of this machine, or to a Unix socket, over a new connection. Never
 * rejects.
 */
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
