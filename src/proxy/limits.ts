import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { controlGroup, readText } from './control-group.ts';
import { memory } from './memory.ts';

/** What this process and its Envoys may use; undefined where nothing limits it. */
export interface Limits {
  /** In cores, with a fraction. */
  readonly cpu: number | undefined;
  /** In bytes. */
  readonly memory: number | undefined;
}

/**
 * The limits as they are now: of the CPU as `ISTIO_CPU_LIMIT` says it, else the quota of the
 * control group if that is less than the machine has; of memory as the control group has it. Below
 * `root`, for tests.
 */
export function limits(
  cpuLimit: number | undefined,
  root = '/',
  cores = availableParallelism(),
): Limits {
  const quota = cpuQuota(root);
  const known = cpuLimit === 0 ? undefined : cpuLimit;
  return { cpu: known ?? (quota < cores ? quota : undefined), memory: memory(root)?.limit };
}

/** The lowest on the way up, in cores. */
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
 * How many worker threads Envoy is to have: as many as are asked for, else one for each core that
 * may be used, a part of one too; 0 leaves it to Envoy, which takes one for each core. Pure.
 */
export function workerThreads(concurrency: number | undefined, { cpu = 0 }: Limits): number {
  return concurrency ?? Math.ceil(cpu);
}
