import { readFileSync } from 'node:fs';
import { Agent, type OutgoingHttpHeaders, request as httpRequest, type RequestOptions } from 'node:http';
import { asyncScheduler, defer, Observable, retry, type SchedulerLike, tap, throwError, timeout, timer } from 'rxjs';
import { type Settled, settle } from '../operators/settle.ts';

export interface AdminAnswer {
  readonly status: number;
  readonly body: string;
}

/** Envoy's admin endpoint, wherever the newest epoch has it. */
export interface AdminClient {
  /**
   * Asks once, on subscribe; emits the answer, or what went wrong, within `patience` ms (1,000), and completes. Never errors. Unsubscribing abandons the
   * request.
   */
  request(method: 'GET' | 'POST', path: string, patience?: number, body?: string): Observable<Settled<AdminAnswer>>;
  /** Whether Envoy has written down where its admin endpoint is: only then does its silence mean that Envoy itself is silent. */
  located(): boolean;
}

/** In bytes. A busy sidecar's statistics are some megabytes. */
const largestBody = 64 << 20;

/**
 * A client of the address that Envoy writes to `addressFile` (`--admin-address-path`), so that a custom configuration may have its admin
 * endpoint anywhere; until there is one, of 127.0.0.1:`port`.
 */
export function adminClient(addressFile: string, port: number, scheduler: SchedulerLike = asyncScheduler): AdminClient {
  const connections = new Agent({ keepAlive: true, maxSockets: 8 });
  let address: RequestOptions | undefined;

  const locate = (): RequestOptions => {
    address ??= readAddress(addressFile);
    return address ?? { host: '127.0.0.1', port };
  };

  return {
    request(method, path, patience = 1_000, body = '') {
      return defer(() => send({ ...locate(), method, path, agent: connections }, body)).pipe(
        // Envoy may close a kept connection in the moment that it is used again, which says nothing about Envoy.
        retry({
          count: 2,
          delay: (error: Error) => (error instanceof StaleConnection ? timer(0, scheduler) : throwError(() => error)),
        }),
        timeout({ first: patience, scheduler }),
        tap({ error: () => (address = undefined) }), // the next epoch may have it elsewhere
        settle(),
      );
    },
    located() {
      locate();
      return address !== undefined;
    },
  };
}

class StaleConnection extends Error {}

function send(options: RequestOptions, body: string): Observable<AdminAnswer> {
  return new Observable((subscriber) => {
    const length = Buffer.byteLength(body);
    const headers: OutgoingHttpHeaders = options.method === 'POST' || length > 0 ? { 'content-length': length } : {};
    const request = httpRequest({ ...options, headers });
    request.on('error', (error: NodeJS.ErrnoException) =>
      subscriber.error(request.reusedSocket && error.code === 'ECONNRESET' ? new StaleConnection(error.message) : error),
    );
    request.on('response', (response) => {
      const pieces: string[] = [];
      let size = 0;
      response.setEncoding('utf8');
      response.on('data', (piece: string) => {
        pieces.push(piece);
        size += piece.length;
        if (size > largestBody) request.destroy(new Error(`the answer is larger than ${largestBody} bytes`));
      });
      response.on('error', (error) => subscriber.error(error));
      response.on('end', () => {
        subscriber.next({ status: response.statusCode ?? 0, body: pieces.join('') });
        subscriber.complete();
      });
    });
    request.end(body);
    return () => request.destroy();
  });
}

/** `127.0.0.1:15000`, `[::1]:15000` or the path of a socket. An address of all interfaces is asked on the loopback. */
function readAddress(file: string): RequestOptions | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8').trim();
  } catch {
    return undefined;
  }
  if (text.startsWith('/')) return { socketPath: text };
  const [, ipv6, ipv4, port] = /^(?:\[(.+)\]|(.+)):(\d+)$/.exec(text) ?? [];
  if (port === undefined) return undefined;
  const host = ipv6 === '::' ? '::1' : ipv4 === '0.0.0.0' ? '127.0.0.1' : (ipv6 ?? ipv4);
  return host === undefined ? undefined : { host, port: Number(port) };
}
