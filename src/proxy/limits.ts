import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { controlGroup, readText } from './control-group.ts';
import { memory } from './memory.ts';

/** The resources that this process and its Envoys may use; undefined if there is no limit. */
export interface Limits {
  /** In cores, with a fraction. */
  readonly cpu: number | undefined;
  /** In bytes. */
  readonly memory: number | undefined;
}

/**
 * Returns the current limits. The CPU limit is `ISTIO_CPU_LIMIT`, or else the quota of the control
 * group if that is less than the machine has. The memory limit is that of the control group. `root`
 * is for tests.
 */
export function limits(
  cpuLimit: number | undefined,
  root = '/',
  cores = availableParallelism(),
): Limits {
  const quota = cpuQuota(root);
  const configured = cpuLimit === 0 ? undefined : cpuLimit;
  return { cpu: configured ?? (quota < cores ? quota : undefined), memory: memory(root)?.limit };
}

/** Returns the lowest quota of the group and those above it, in cores. */
function cpuQuota(root: string): number {
  const { version, folders } = controlGroup('cpu', root) ?? { version: 2, folders: [] };
  const quotas = folders.map((folder) => {
    const text = (name: string) => readText(join(folder, name));
    const [quota, period] = (
      version === 2 ? text('cpu.max') : `${text('cpu.cfs_quota_us')} ${text('cpu.cfs_period_us')}`
    ).split(' ');
    return Number(quota) / Number(period);
  });
  return Math.min(...quotas.filter((quota) => quota > 0));
}

/**
 * Returns the number of Envoy's worker threads: the requested number, or one for each core that may
 * be used, rounded up. 0 leaves the number to Envoy, which takes one for each core. Pure.
 */
export function workerThreads(concurrency: number | undefined, { cpu = 0 }: Limits): number {
  return concurrency ?? Math.ceil(cpu);
}
