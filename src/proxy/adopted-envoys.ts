import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { AdoptedEpoch } from '../agent/ports.ts';
import { startTime } from './proc.ts';

/** An Envoy that outlives its agent: all that the next agent has to know of it. */
export interface AdoptedEnvoy extends AdoptedEpoch {
  readonly baseId: number;
  /** See {@link startTime}. */
  readonly startTime: string;
  /** Where it has written down its admin address. */
  readonly addressFile: string;
}

const numbers = ['epoch', 'restartEpoch', 'lineage', 'pid', 'baseId'] as const;
const texts = ['startTime', 'addressFile'] as const;

/**
 * The Envoys that `file` says were adopted and that still run, the oldest first: the same process,
 * with the base id, the restart epoch and the address file that are written there. What is not
 * understood is not there.
 */
export function adoptedEnvoys(file: string): readonly AdoptedEnvoy[] {
  const written = parse(read(file));
  return (Array.isArray(written) ? written : []).filter(isAdopted).filter((adopted) => {
    const args = read(`/proc/${adopted.pid}/cmdline`).split('\0');
    const has = (option: string, value: string | number) => args[args.lastIndexOf(option) + 1] === String(value);
    return (
      startTime(adopted.pid) === adopted.startTime &&
      has('--base-id', adopted.baseId) &&
      has('--restart-epoch', adopted.restartEpoch) &&
      (args[args.indexOf('--admin-address-path') + 1] ?? '').startsWith(`${dirname(file)}/`)
    );
  });
}

function isAdopted(value: unknown): value is AdoptedEnvoy {
  const fields = (value ?? {}) as Readonly<Record<string, unknown>>;
  return numbers.every((name) => Number.isSafeInteger(fields[name])) && texts.every((name) => typeof fields[name] === 'string');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
