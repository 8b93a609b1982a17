import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { ask } from '../../test/support/ask.ts';
import { connects } from '../../test/support/connects.ts';
import { freePorts } from '../../test/support/free-ports.ts';
import { type Contender, istiodOf, startPilotDiscovery, unlimited } from '../control-planes.ts';
import { fleetProgram } from '../fleet.ts';

const peers = resolve('../shared/peers');

/** Throws if the programs that this benchmark needs are not beside the checkout. */
export function requireFleet(): void {
  if (!existsSync(fleetProgram))
    throw new Error('bench discovery needs the programs of ../shared/peers beside this checkout');
}

/** A control plane that runs. */
export interface Running {
  readonly folder: string;
  readonly port: number;
  readonly pid: number;
}

/** The services of the fleet, and more YAML beside them. */
export interface Mesh {
  readonly services: number;
  readonly yaml?: string;
}

/** Starts a control plane with the services of a mesh, and ends it when `use` is over. */
export async function over<T>(
  who: Contender,
  { services, yaml = '' }: Mesh,
  use: (running: Running) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'pilot-discovery-bench-'));
  const fill = async () => {
    await execa(fleetProgram, ['services', String(services), folder]);
    if (yaml !== '') writeFileSync(join(folder, 'sidecars.yaml'), yaml);
  };
  const [port = 0] = await freePorts(3);
  let child: ChildProcess | undefined;
  try {
    if (who === 'ours') {
      await fill();
      child = startOurs(folder, port);
      await until(async () => (await ask(port + 1, '/ready')).status === 200);
    } else {
      // With its limit of requests per second, istiod never answers if it starts with more than a
      // hundred resources.
      const env = { ...process.env, ...unlimited };
      child = spawn(join(peers, 'istiod'), [folder, String(port)], { stdio: 'ignore', env });
      await until(() => connects(port));
      await fill();
      await sleep(4_000 + 3 * services);
    }
    const pid = who === 'ours' ? (child.pid ?? 0) : await istiodOf(child.pid ?? 0);
    return await use({ folder, port, pid });
  } finally {
    child?.kill('SIGTERM');
    if (child?.exitCode === null) await once(child, 'exit');
    rmSync(folder, { recursive: true, force: true });
  }
}

export const startOurs = (folder: string, port: number): ChildProcess =>
  startPilotDiscovery(['--configDir', folder], {
    port,
    servers: ['grpcAddr', 'httpAddr', 'monitoringAddr'],
  });

export async function until(
  condition: () => boolean | Promise<boolean>,
  pause = 20,
): Promise<void> {
  while (!(await condition())) await sleep(pause);
}
