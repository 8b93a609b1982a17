import { Agent, request } from 'node:http';
import { Agent as SecureAgent, request as requestSecurely } from 'node:https';
import type { TLSSocket } from 'node:tls';
import type { Target } from './plan.ts';

/**
 * An answer. Its status is 0 if there is no answer. It has a reason if the status is 0, or 500 or
 * more.
 */
export interface Asked {
  readonly status: number;
  readonly why: string;
  /** Whether it came over the connection of an earlier request. */
  readonly reused: boolean;
  /** The serial number of the certificate that the server showed; '' without TLS. */
  readonly certificate: string;
}

/** The port for requests to a target. */
export interface Door {
  readonly port: number;
  /** The root of the certificate that the server must show; undefined without TLS. */
  readonly root: string | undefined;
}

/**
 * Sends a request. Sends it once more if there is no answer on a kept connection, which may have
 * been closed.
 */
export async function askOnce(door: Door, host: string, agent: Agent | false): Promise<Asked> {
  const first = await attempt(door, host, agent);
  return first.status === 0 && first.reused ? attempt(door, host, agent) : first;
}

const attempt = ({ port, root }: Door, host: string, agent: Agent | false): Promise<Asked> =>
  new Promise((done) => {
    const end = (status: number, why: string) => {
      const shown = (clientRequest.socket as Partial<TLSSocket> | null)?.getPeerCertificate?.() as
        { readonly serialNumber?: string } | null | undefined;
      const certificate = root === undefined ? '' : (shown?.serialNumber ?? '');
      done({ status, why, reused: clientRequest.reusedSocket, certificate });
    };
    const options = { host: '127.0.0.1', port, headers: { host }, agent, timeout: 20_000 };
    // The certificate is for the machine of the test, not for the host.
    const identity = { servername: host, ca: root, checkServerIdentity: () => undefined };
    const ask = root === undefined ? request : requestSecurely;
    const clientRequest = ask({ ...options, ...identity }, (response) => {
      let body = '';
      response
        .setEncoding('utf8')
        .on('data', (piece: string) => (body += piece))
        .on('end', () => {
          const status = response.statusCode ?? 0;
          end(status, status >= 500 ? body : '');
        })
        .on('error', ({ message }) => end(0, message));
    });
    clientRequest
      .on('error', ({ message }) => end(0, message))
      .on('timeout', () => clientRequest.destroy(new Error('no answer in 20 s')))
      .end();
  });

/** An answer under load. */
export interface Answered extends Asked {
  readonly target: Target;
  /** The time at which its connection was opened, by `performance.now()`. */
  readonly since: number;
}

/**
 * The number of requests on one connection. An old connection may have the configuration from when
 * it was opened, so it is not kept long.
 */
const requestsPerConnection = 50;

interface Load {
  stop(): Promise<void>;
}

/**
 * Sends one request after the other to each target, over a kept connection and over new ones, until
 * it is stopped.
 */
export function startClients(
  doorOf: (target: Target) => Door,
  targets: readonly Target[],
  pause: number,
  onAnswer: (answered: Answered) => void,
): Load {
  const stopping = new AbortController();
  const isRunning = () => !stopping.signal.aborted;
  const loop = async (target: Target, kept: boolean): Promise<void> => {
    const [, host = ''] = target.split(' ');
    while (isRunning()) {
      const door = doorOf(target);
      const Kept = door.root === undefined ? Agent : SecureAgent;
      const agent = kept && new Kept({ keepAlive: true, maxSockets: 1 });
      let since = 0;
      for (let count = 0; isRunning() && count < requestsPerConnection; count++) {
        const sent = performance.now();
        const answer = await askOnce(door, host, agent);
        if (!answer.reused) since = sent;
        onAnswer({ ...answer, target, since });
        await new Promise((done) => setTimeout(done, pause));
      }
      if (agent !== false) agent.destroy();
    }
  };
  const loops = targets.flatMap((target) => [loop(target, true), loop(target, false)]);
  return {
    async stop() {
      stopping.abort();
      await Promise.all(loops);
    },
  };
}
