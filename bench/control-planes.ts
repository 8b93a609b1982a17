import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** A program that is measured. */
export type Contender = 'ours' | 'istiod';

/** With this variable, istiod does not limit how many requests it serves per second. */
export const unlimited = { PILOT_MAX_REQUESTS_PER_SECOND: '0' };

/** Starts `pilot-discovery` with its servers on successive ports of the loopback address. */
export function startPilotDiscovery(
  args: readonly string[],
  { port, servers, cwd }: { port: number; servers: readonly string[]; cwd?: string },
): ChildProcess {
  const listen = servers.flatMap((flag, index) => [`--${flag}`, `127.0.0.1:${port + index}`]);
  const program = resolve('dist/pilot-discovery.cjs');
  return spawn(process.execPath, [program, 'discovery', ...args, ...listen], {
    stdio: 'ignore',
    cwd,
  });
}

/** Resolves to the id of the istiod process that a script has started. */
export async function istiodOf(script: number): Promise<number> {
  for (;;) {
    const children = readFileSync(`/proc/${script}/task/${script}/children`, 'utf8').trim();
    const pid = children
      .split(' ')
      .find((child) => programName(child).startsWith('pilot-discovery'));
    if (pid !== undefined) return Number(pid);
    await sleep(1);
  }
}

function programName(pid: string): string {
  try {
    return basename(readlinkSync(`/proc/${pid}/exe`));
  } catch {
    return ''; // it has ended
  }
}
