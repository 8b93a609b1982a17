import { readFileSync } from 'node:fs';
import type { Memory } from './memory.ts';

/** How much is left free, for what the two need while they hand over: a share of the limit. */
const reserve = 0.05;
const mebibyte = 1 << 20;

/** Why a second Envoy as large as the one of `resident` bytes would not fit; undefined if it would, or nothing limits it. Pure. */
export function crowded(memory: Memory | undefined, resident: number): string | undefined {
  if (memory?.limit === undefined) return undefined;
  const free = memory.limit * (1 - reserve) - memory.used;
  if (resident <= free) return undefined;
  const [needed, left, limit] = [resident, Math.max(0, free), memory.limit].map((bytes) => Math.round(bytes / mebibyte));
  return `a second Envoy needs about ${needed} MiB, and ${left} of ${limit} MiB are free`;
}

/** What a process holds of memory of its own, in bytes; 0 if it is gone. */
export function residentOf(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return ['RssAnon', 'RssShmem'].reduce(
      (sum, name) => sum + 1024 * Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1] ?? 0),
      0,
    );
  } catch {
    return 0;
  }
}
