import { Agent, request } from 'node:http';
import type { Target } from './plan.ts';

/** An answer; status 0 if there is none, and why. */
export interface Asked {
  readonly status: number;
  readonly why: string;
  /** Whether it came over a connection of an earlier request. */
  readonly reused: boolean;
}

/** Asks once. A request that met the close of a kept connection is sent once more. */
export async function askOnce(port: number, host: string, agent: Agent | false): Promise<Asked> {
  const first = await attempt(port, host, agent);
  return first.status === 0 && first.reused ? attempt(port, host, agent) : first;
}

const attempt = (port: number, host: string, agent: Agent | false): Promise<Asked> =>
  new Promise((done) => {
    const end = (status: number, why: string) => done({ status, why, reused: asked.reusedSocket });
    const options = { host: '127.0.0.1', port, headers: { host }, agent, timeout: 20_000 };
    const asked = request(options, (response) => {
      response
        .on('end', () => end(response.statusCode ?? 0, ''))
        .on('error', ({ message }) => end(0, message))
        .resume();
    });
    asked
      .on('error', ({ message }) => end(0, message))
      .on('timeout', () => asked.destroy(new Error('no answer in 20 s')))
      .end();
  });

/** A request under load. */
export interface Answered extends Asked {
  readonly target: Target;
  /** When its connection was opened, by `performance.now()`. */
  readonly since: number;
}

/** An old connection may have the configuration from when it was opened, so it is not kept long. */
const requestsPerConnection = 50;

interface Load {
  stop(): Promise<void>;
}

/**
 * Sends one request after the other to each target, over a kept connection and over new ones, until
 * it is stopped.
 */
export function startClients(
  portOf: (target: Target) => number,
  targets: readonly Target[],
  pause: number,
  onAnswer: (answered: Answered) => void,
): Load {
  const stopping = new AbortController();
  const isRunning = () => !stopping.signal.aborted;
  const loop = async (target: Target, kept: boolean): Promise<void> => {
    const [, host = ''] = target.split(' ');
    while (isRunning()) {
      const agent = kept && new Agent({ keepAlive: true, maxSockets: 1 });
      let since = 0;
      for (let count = 0; isRunning() && count < requestsPerConnection; count++) {
        const sent = performance.now();
        const asked = await askOnce(portOf(target), host, agent);
        if (!asked.reused) since = sent;
        onAnswer({ ...asked, target, since });
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
