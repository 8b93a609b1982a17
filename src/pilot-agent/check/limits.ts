import { availableParallelism } from 'node:os';
import { limits, workerThreads } from '../../proxy/limits.ts';
import { memory, noRoomFor, residentOf } from '../../proxy/memory.ts';
import { envoysOf } from '../../proxy/proc.ts';
import type { Around } from './around.ts';
import { type Finding, findingsOf } from './finding.ts';

const { ok, warn } = findingsOf('limits');

const mebibyte = 1 << 20;
/** In bytes: the agent takes 60 to 80 MiB, and Envoy about 40 before it has a configuration. */
const least = 128 * mebibyte;

/** Checks that the limits of CPU and memory leave room for the agent, Envoy, and a second Envoy. */
export function checkLimits({ config, agent }: Around): readonly Finding[] {
  const limit = limits(config.cpuLimit);
  const threads = workerThreads(config.concurrency, limit) || availableParallelism();
  const [newest] = agent === undefined ? [] : envoysOf(config.configPath).slice(-1);
  const full = newest === undefined ? undefined : noRoomFor(memory(), residentOf(newest));
  const cores = limit.cpu ?? availableParallelism();
  const findings = [
    ...(limit.memory !== undefined && limit.memory < least
      ? [
          warn(
            'memory low',
            `the limit of memory is ${mib(limit.memory)} MiB, and agent and Envoy need ${mib(least)}`,
            `raise the limit of memory to ${mib(least)} MiB or more`,
          ),
        ]
      : []),
    ...(full === undefined
      ? []
      : [
          warn(
            'epoch.no_room',
            full,
            'raise the limit of memory: a hot restart has two Envoys for a while',
          ),
        ]),
    ...(threads > Math.ceil(cores)
      ? [
          warn(
            'threads many',
            `--concurrency is ${threads}, and ${rounded(cores)} of ${availableParallelism()} cores may be used`,
            `give --concurrency ${Math.ceil(cores)} at most, or raise the limit of the CPU`,
          ),
        ]
      : []),
  ];
  if (findings.length > 0) return findings;
  const space =
    limit.memory === undefined ? 'memory without a limit' : `${mib(limit.memory)} MiB of memory`;
  return [
    ok(
      `${rounded(cores)} of ${availableParallelism()} cores, ${space}, ${threads} worker thread${threads === 1 ? '' : 's'}`,
    ),
  ];
}

function mib(bytes: number): number {
  return Math.floor(bytes / mebibyte);
}

function rounded(cores: number): number {
  return Math.round(cores * 100) / 100;
}
