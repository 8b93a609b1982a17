// Why: docs/decisions/017-memory-is-checked-first.md
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { controlGroup, readText } from './control-group.ts';

/** The limit and use of a control group's memory, in bytes. */
export interface Memory {
  /** The lowest limit of the group and those above it; undefined if there is none. */
  readonly limit: number | undefined;
  /**
   * The memory that counts against the limit, without the part of the page cache that the kernel
   * frees at once.
   */
  readonly used: number;
  /** The processes that the kernel killed because memory ran out; undefined if it does not say. */
  readonly oomKills: number | undefined;
}

interface Files {
  readonly limit: string;
  readonly used: string;
  readonly events: string;
  readonly inactive: string;
}

const v2: Files = {
  limit: 'memory.max',
  used: 'memory.current',
  events: 'memory.events',
  inactive: 'inactive_file',
};
const v1: Files = {
  limit: 'memory.limit_in_bytes',
  used: 'memory.usage_in_bytes',
  events: 'memory.oom_control',
  inactive: 'total_inactive_file',
};
/** Version 1 reports "no limit" as the largest number of pages. */
const unlimited = 2 ** 62;

/**
 * Returns the memory of the control group of this process, in either version; undefined if none can
 * be read. `root` is for tests.
 */
export function memory(root = '/'): Memory | undefined {
  const { version, folders } = controlGroup('memory', root) ?? { version: 2, folders: [] };
  const files = version === 1 ? v1 : v2;
  const ownFolder = folders.find((folder) => readText(join(folder, files.used)) !== '');
  if (ownFolder === undefined) return undefined;
  const limits = folders
    .map((folder) => Number(readText(join(folder, files.limit)) || NaN))
    .filter((limit) => limit < unlimited);
  const inactive = Number(
    new RegExp(`^${files.inactive} (\\d+)$`, 'm').exec(
      readText(join(ownFolder, 'memory.stat')),
    )?.[1] ?? 0,
  );
  const kills = /^oom_kill (\d+)$/m.exec(readText(join(ownFolder, files.events)))?.[1];
  return {
    limit: limits.length === 0 ? undefined : Math.min(...limits),
    used: Number(readText(join(ownFolder, files.used))) - inactive,
    oomKills: kills === undefined ? undefined : Number(kills),
  };
}

/** The share of the limit that stays free, because both Envoys need more while they hand over. */
const reserve = 0.05;
const mebibyte = 1 << 20;

/**
 * Returns the reason why a second Envoy as large as the one of `resident` bytes would not fit;
 * undefined if it fits, or nothing limits it. Pure.
 */
export function noRoomFor(memory: Memory | undefined, resident: number): string | undefined {
  if (memory?.limit === undefined) return undefined;
  const free = memory.limit * (1 - reserve) - memory.used;
  if (resident <= free) return undefined;
  const [needed, left, limit] = [resident, Math.max(0, free), memory.limit].map((bytes) =>
    Math.round(bytes / mebibyte),
  );
  return `a second Envoy needs about ${needed} MiB, and ${left} of ${limit} MiB are free`;
}

/** Returns the memory that belongs to a process alone, in bytes; 0 if it is gone. */
export function residentOf(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return ['RssAnon', 'RssShmem'].reduce(
      (sum, name) =>
        sum + 1024 * Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1] ?? 0),
      0,
    );
  } catch {
    return 0;
  }
}

/**
 * Makes the kernel end this process first if memory runs short, whatever its size (`oom_score_adj`,
 * proc(5)). This needs no privilege.
 */
export function endFirst(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, '1000');
  } catch {
    // It is gone, or /proc is not writable: then the kernel decides by size.
  }
}
