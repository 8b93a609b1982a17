import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeCertificates } from '../../../demo/certificates.ts';
import { eventually } from '../eventually.ts';
import { type LoadResult, startLoad } from '../load.ts';
import { makeRig } from './rig.ts';

/** One of several agents that take over the same Envoys, one after another. */
interface Held {
  /** The id of the process that it has taken over; undefined for the first agent. */
  readonly adopted: number | undefined;
  /** The id of the process that it has left running. */
  readonly left: number | undefined;
  /** The events that it has logged as warnings or errors, except the log of Envoy. */
  readonly warned: readonly string[];
}

export interface Upgrades {
  readonly agents: readonly Held[];
  /** The load over kept connections, and the load over new ones. */
  readonly loads: readonly LoadResult[];
}

const keep = ['--keepEnvoy', '--minDelay', '0s'];

/**
 * Runs one agent after another with `--keepEnvoy`, each from its own program, while an Envoy is
 * under load. Each agent takes over the processes that the one before has left, restarts Envoy for
 * a new certificate, and is ended by SIGTERM. Each load completes `requests` more requests under
 * each agent, and again after its end.
 */
export async function upgradeUnderLoad(
  programs: readonly string[],
  requests: number,
): Promise<Upgrades> {
  const rig = await makeRig();
  const loads: ReturnType<typeof startLoad>[] = [];
  const answered = async () => {
    const before = loads.map(({ counts }) => counts.ok);
    const isEnough = () =>
      loads.every(
        ({ counts }, index) => counts.ok + counts.failed >= (before[index] ?? 0) + requests,
      );
    await eventually(isEnough);
  };
  try {
    const agents: Held[] = [];
    for (const [index, program] of programs.entries()) {
      const agent = rig.start(keep, { program });
      const [first, rotated] = [2 * index, 2 * index + 1];
      await agent.said('epoch.live', first);
      if (index === 0) {
        const to = {
          port: rig.ports.listen,
          tls: { ca: rig.ca.rootCert },
          clients: 4,
          maxDuration: 300_000,
        };
        loads.push(
          startLoad({ ...to, mode: 'keep-alive' }),
          startLoad({ ...to, mode: 'new-connection', pause: 20 }),
        );
      }
      const adopted = index === 0 ? undefined : Number((await agent.said('epoch.adopted'))['pid']);
      writeCertificates(rig.certDir, await rig.ca.issue());
      await agent.said('epoch.live', rotated);
      await agent.said('epoch.ended', first);
      await answered();
      agent.kill('SIGTERM');
      const { code } = await agent.exit;
      if (code !== 0)
        throw new Error(
          `the agent of ${program} has ended with ${String(code)}: ${agent.errors()}`,
        );
      const kept = JSON.parse(
        readFileSync(join(rig.folder, 'run', 'envoy-kept.json'), 'utf8'),
      ) as readonly { pid: number }[];
      const warned = agent
        .log()
        .flatMap(({ level, event }) =>
          ['warn', 'error'].includes(level) && event !== 'envoy.log' ? [event] : [],
        );
      agents.push({ adopted, left: kept.at(-1)?.pid, warned });
      await answered();
    }
    return { agents, loads: await Promise.all(loads.map((load) => load.stop())) };
  } finally {
    await Promise.all(loads.map((load) => load.stop()));
    await rig.dispose();
  }
}
