import { statSync } from 'node:fs';
import {
  Agent,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request as httpRequest,
  type RequestOptions,
} from 'node:http';
import {
  asyncScheduler,
  defer,
  mergeMap,
  Observable,
  retry,
  type SchedulerLike,
  tap,
  throwError,
  timer,
} from 'rxjs';
import { answerOf } from '../shared/http/answer-of.ts';
import { parseHostPort, portNumber } from '../shared/text/host-port.ts';
import { readOutsideSync } from '../shared/files/outside-file.ts';
import { attentiveTimeout } from '../operators/attentive-timer.ts';
import { settle, type Settled } from '../operators/settle.ts';

export interface AdminAnswer {
  readonly status: number;
  readonly body: string;
}

/** A client of Envoy's admin endpoint, at the current address of the newest epoch. */
export interface AdminClient {
  /**
   * Asks once, on subscribe; emits the answer, or the error, and completes. Waits at most
   * `timeoutMs` ms (1,000 if left out), and does not count time in which the agent could not
   * listen. Never errors. Unsubscribing cancels the request.
   */
  request(
    method: 'GET' | 'POST',
    path: string,
    timeoutMs?: number,
    body?: string,
  ): Observable<Settled<AdminAnswer>>;
  /**
   * Asks by GET, and emits the answer as soon as its head has arrived; the caller reads the rest.
   * See {@link openAnswer}. Errors if there is no answer.
   */
  open(path: string, headers: OutgoingHttpHeaders): Observable<IncomingMessage>;
  /**
   * Whether Envoy has written the address of its admin endpoint to its file. Only then does silence
   * mean that Envoy itself does not answer.
   */
  located(): boolean;
}

/** In bytes. The statistics of a busy sidecar are some megabytes. */
const largestBody = 64 << 20;
/**
 * These requests concern one epoch, so each gets a new connection: over a kept connection, the
 * previous epoch answers one more request (measured, Envoy 1.36.2).
 */
const ofOneEpoch = /^\/(?:server_info|logging|runtime_modify)(?:\?|$)/;

/**
 * Returns a client of the address that Envoy writes to `addressFile` (`--admin-address-path`), so
 * that a custom configuration can put its admin endpoint anywhere. Until the file has an address
 * the client asks 127.0.0.1:`port`.
 */
export function adminClient(
  addressFile: string,
  port: number,
  scheduler: SchedulerLike = asyncScheduler,
): AdminClient {
  const connections = new Agent({ keepAlive: true, maxSockets: 8 });
  let address: RequestOptions | undefined;
  let lastAddress: string | undefined;

  const locate = (): RequestOptions => {
    const now = versionOf(addressFile);
    if (now !== lastAddress || address === undefined) address = readAddress(addressFile) ?? address;
    lastAddress = now;
    return address ?? { host: '127.0.0.1', port };
  };

  return {
    request(method, path, timeoutMs = 1_000, body = '') {
      const agent = ofOneEpoch.test(path) ? false : connections;
      return defer(() => openAnswer({ ...locate(), method, path, agent }, body, scheduler)).pipe(
        mergeMap(collect),
        attentiveTimeout(timeoutMs, scheduler),
        tap({ error: () => (address = undefined) }), // the next epoch may have it elsewhere
        settle(),
      );
    },
    open(path, headers) {
      return defer(() =>
        openAnswer({ ...locate(), path, headers, agent: connections }, '', scheduler),
      ).pipe(tap({ error: () => (address = undefined) }));
    },
    located() {
      locate();
      return address !== undefined;
    },
  };
}

function collect(answer: IncomingMessage): Observable<AdminAnswer> {
  return new Observable((subscriber) => {
    const pieces: string[] = [];
    let size = 0;
    answer.setEncoding('utf8');
    answer.on('data', (piece: string) => {
      pieces.push(piece);
      size += piece.length;
      if (size > largestBody)
        subscriber.error(new Error(`the answer is larger than ${largestBody} bytes`));
    });
    answer.on('end', () => {
      subscriber.next({ status: answer.statusCode ?? 0, body: pieces.join('') });
      subscriber.complete();
    });
  });
}

/**
 * Returns a text that changes when another epoch writes to the file, or when another file takes its
 * place.
 */
function versionOf(file: string): string {
  try {
    const { ino, mtimeMs } = statSync(file);
    return `${ino} ${mtimeMs}`;
  } catch {
    return '';
  }
}

/** The longest path that is read, in bytes. */
const longest = 4_096;

/**
 * Reads `127.0.0.1:15000`, `[::1]:15000` or the path of a socket. The address of all interfaces
 * becomes the loopback address.
 */
function readAddress(file: string): RequestOptions | undefined {
  const read = readOutsideSync(file, longest);
  if (read.kind !== 'read') return undefined;
  const text = read.bytes.toString().trim();
  if (text.startsWith('/')) return { socketPath: text };
  const { host = '', port: digits } = parseHostPort(text) ?? {};
  const port = portNumber(digits);
  if (host === '' || port === undefined) return undefined;
  return { host: host === '::' ? '::1' : host === '0.0.0.0' ? '127.0.0.1' : host, port };
}

class StaleConnection extends Error {}

/**
 * Asks over HTTP on subscribe; emits the answer when its head has arrived, and completes at its
 * end. Errors if anything fails before the head. Unsubscribing cancels the request, or the rest of
 * the answer: the reader stays subscribed until it has read all.
 */
export function openAnswer(
  options: RequestOptions,
  body = '',
  scheduler: SchedulerLike = asyncScheduler,
): Observable<IncomingMessage> {
  const length = Buffer.byteLength(body);
  const headers: OutgoingHttpHeaders =
    options.method === 'POST' || length > 0 ? { 'content-length': length } : {};
  const requestOptions = {
    ...options,
    headers: { ...headers, ...(options.headers as OutgoingHttpHeaders) },
  };
  return answerOf(
    () => httpRequest(requestOptions),
    body,
    (error, { reusedSocket }) =>
      reusedSocket && error.code === 'ECONNRESET' ? new StaleConnection(error.message) : error,
  ).pipe(
    // A server may close a kept connection just when it is used again; that does not mean that the
    // server fails.
    retry({
      count: 2,
      delay: (error: Error) =>
        error instanceof StaleConnection ? timer(0, scheduler) : throwError(() => error),
    }),
  );
}

/**
 * Parses Envoy's `/stats` as text: one `name: value` a line. Leaves out values that are not numbers
 * (histograms, text readouts).
 */
export function parseStats(body: string): ReadonlyMap<string, number> {
  const stats = new Map<string, number>();
  for (const line of body.split('\n')) {
    const [, name, value] = /^(.+): (\d+)$/s.exec(line) ?? [];
    if (name !== undefined && Number.isSafeInteger(Number(value))) stats.set(name, Number(value));
  }
  return stats;
}
