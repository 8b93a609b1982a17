import { connect as connectTcp, type Socket } from 'node:net';
import {
  connect as connectTls,
  createSecureContext,
  type SecureContext,
  TLSSocket,
} from 'node:tls';

export interface LoadOptions {
  /** A port of this machine, or the path of a Unix socket. */
  readonly port: number | string;
  /** The `Host` of the requests. Default: `localhost`. */
  readonly host?: string;
  /**
   * If it is there, the clients use TLS, with a client certificate if `cert` and `key` are there. A
   * server certificate that does not chain to `ca` (PEM) is a failure.
   */
  readonly tls?: { readonly ca: string; readonly cert?: string; readonly key?: string };
  readonly mode: 'keep-alive' | 'new-connection';
  readonly clients: number;
  readonly path?: string;
  /** The time in ms after which the load stops if `stop` was not called; default 60,000. */
  readonly maxDuration?: number;
  /** The time in ms after which an answer that is not complete is a failure; default 10,000. */
  readonly requestTimeout?: number;
  /** The time in ms between an answer and the next request of the same client; default 0. */
  readonly pause?: number;
}

export interface LoadResult {
  /** Complete answers with status 200. */
  ok: number;
  failed: number;
  /**
   * Requests on a kept connection that closed before any byte of their answer came. They were sent
   * once more (RFC 9112 §9.3.1).
   */
  retried: number;
  connections: number;
  /** The number of failed requests by reason. The sum is `failed`. */
  errors: Map<string, number>;
  /** The serials of the certificates that the server presented, upper-case hex. */
  serials: Set<string>;
  /** The time in ms from the start until the last client stopped. */
  duration: number;
  /** The longest time in ms until a complete answer, including a retry. */
  slowest: number;
}

export interface Load {
  /** The counts so far. */
  readonly counts: Readonly<LoadResult>;
  /** Lets the requests in flight finish, closes all connections, and resolves to the counts. */
  stop(): Promise<LoadResult>;
}

const sweepInterval = 50;
/**
 * The reason of a failure if a connection was reset before the end of its TLS handshake, so that
 * its request was not sent. When a listener with `SO_REUSEPORT` closes, the kernel resets the
 * connections that wait to be accepted, unless `net.ipv4.tcp_migrate_req` is 1.
 */
export const resetInHandshake = 'reset in the handshake';

/**
 * The shortest pause after a failure, in ms. Without it, a client would try a refused connection
 * thousands of times a second.
 */
const pauseAfterFailure = 10;

/**
 * Starts `clients` clients, each of which sends one GET after the other. Every request counts as
 * `ok` or `failed`.
 */
export function startLoad(options: LoadOptions): Load {
  const { maxDuration = 60_000, clients } = options;
  const counts: LoadResult = {
    ok: 0,
    failed: 0,
    retried: 0,
    connections: 0,
    errors: new Map(),
    serials: new Set(),
    duration: 0,
    slowest: 0,
  };
  const started = performance.now();
  const secureContext = options.tls && createSecureContext(options.tls);
  const all = Array.from({ length: clients }, () => new Client(options, secureContext, counts));
  const sweep = setInterval(() => {
    const now = performance.now();
    for (const client of all) {
      if (now - started > maxDuration) client.stop();
      client.expire(now);
    }
  }, sweepInterval);
  const done = Promise.all(all.map((client) => client.run())).then(() => {
    clearInterval(sweep);
    counts.duration = performance.now() - started;
    return counts;
  });
  return {
    counts,
    stop: () => {
      for (const client of all) client.stop();
      return done;
    },
  };
}

/**
 * A minimal HTTP/1.1 client over a socket. It takes little CPU time from the server under test, and
 * sees exactly when a connection ends.
 */
class Client {
  readonly #options: LoadOptions;
  readonly #secureContext: SecureContext | undefined;
  readonly #counts: LoadResult;
  readonly #request: string;
  readonly #timeout: number;
  #done: () => void = () => undefined;
  #running = true;
  #socket: Socket | undefined;
  #answers = 0;
  #inFlight = false;
  #isRetry = false;
  #sentAt = 0;
  #received = '';

  constructor(options: LoadOptions, secureContext: SecureContext | undefined, counts: LoadResult) {
    this.#options = options;
    this.#secureContext = secureContext;
    this.#counts = counts;
    this.#timeout = options.requestTimeout ?? 10_000;
    const close = options.mode === 'new-connection' ? 'Connection: close\r\n' : '';
    this.#request = `GET ${options.path ?? '/'} HTTP/1.1\r\nHost: ${options.host ?? 'localhost'}\r\n${close}\r\n`;
  }

  run(): Promise<void> {
    return new Promise((resolve) => {
      this.#done = resolve;
      this.#next();
    });
  }

  stop(): void {
    this.#running = false;
  }

  expire(now: number): void {
    if (!this.#inFlight || now - this.#sentAt < this.#timeout) return;
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.destroy();
    this.#fail('timed out');
  }

  #next(): void {
    if (!this.#running) {
      this.#socket?.destroySoon();
      this.#socket = undefined;
      this.#done();
      return;
    }
    this.#sentAt = performance.now();
    this.#inFlight = true;
    this.#isRetry = false;
    this.#send();
  }

  #send(): void {
    this.#received = '';
    if (this.#socket === undefined) this.#connect();
    else this.#socket.write(this.#request, 'latin1');
  }

  #connect(): void {
    const { port } = this.#options;
    const target =
      typeof port === 'number' ? { host: '127.0.0.1', port, noDelay: true } : { path: port };
    const context = this.#secureContext;
    const socket = context
      ? connectTls({ ...target, servername: 'localhost', secureContext: context })
      : connectTcp(target);
    let reason: string | undefined;
    let connected = false;
    this.#socket = socket;
    this.#answers = 0;
    this.#counts.connections++;
    socket.once(context ? 'secureConnect' : 'connect', () => {
      connected = true;
      if (socket instanceof TLSSocket)
        this.#counts.serials.add(socket.getPeerX509Certificate()?.serialNumber ?? 'none');
      if (this.#socket === socket) socket.write(this.#request, 'latin1');
    });
    socket.setEncoding('latin1');
    socket.on('data', (chunk) => {
      if (this.#socket === socket) this.#receive(String(chunk));
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      reason =
        context && !connected && error.code === 'ECONNRESET'
          ? resetInHandshake
          : (error.code ?? error.message);
    });
    socket.on('close', () => {
      if (this.#socket === socket) this.#closed(reason);
    });
  }

  #receive(chunk: string): void {
    this.#received += chunk;
    if (!this.#inFlight) {
      this.#drop('bytes without a request');
      return;
    }
    const end = this.#received.indexOf('\r\n\r\n');
    if (end < 0) return;
    const head = this.#received.slice(0, end);
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    if (length === undefined) {
      this.#drop('an answer without content-length');
      return;
    }
    const missing = end + 4 + Number(length) - this.#received.length;
    if (missing > 0) return;
    if (missing < 0) {
      this.#drop('more bytes than announced');
      return;
    }

    this.#answers++;
    this.#counts.slowest = Math.max(this.#counts.slowest, performance.now() - this.#sentAt);
    if (this.#options.mode === 'new-connection' || /\r\nconnection: *close/i.test(head)) {
      this.#socket?.destroySoon();
      this.#socket = undefined;
    }
    if (!head.startsWith('HTTP/1.1 200')) {
      this.#fail(`status ${head.slice(9, 12)}`);
      return;
    }
    this.#counts.ok++;
    this.#end(this.#options.pause ?? 0);
  }

  #closed(reason: string | undefined): void {
    this.#socket = undefined;
    if (!this.#inFlight) return; // an idle connection may close: no request is lost
    if (this.#received === '' && this.#answers > 0 && !this.#isRetry) {
      this.#isRetry = true;
      this.#counts.retried++;
      this.#send();
      return;
    }
    this.#fail(
      reason ?? (this.#received === '' ? 'closed before the answer' : 'closed within the answer'),
    );
  }

  #drop(reason: string): void {
    this.#socket?.destroy();
    this.#socket = undefined;
    this.#fail(reason);
  }

  #fail(reason: string): void {
    this.#counts.failed++;
    this.#counts.errors.set(reason, (this.#counts.errors.get(reason) ?? 0) + 1);
    this.#end(Math.max(pauseAfterFailure, this.#options.pause ?? 0));
  }

  #end(pause: number): void {
    this.#inFlight = false;
    if (pause === 0 || !this.#running) this.#next();
    else setTimeout(() => this.#next(), pause);
  }
}
