import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { eventually } from '../eventually.ts';
import type { Rig } from './rig.ts';

/**
 * A fault that can be injected once into a real agent, in a function or a server of Node: see
 * `faults.cjs`.
 */
export type Fault =
  'server' | 'pack' | 'hash' | 'expiry' | 'words' | 'past' | 'core' | 'uncaught' | 'rejection';

/** Returns the environment of an agent that faults can be injected into. */
export function faultEnv(rig: Rig): NodeJS.ProcessEnv {
  return {
    NODE_OPTIONS: `--require ${resolve('test/support/e2e/faults.cjs')}`,
    FAULTS: folderOf(rig),
  };
}

/**
 * Injects a fault into the next agent of a rig that starts with {@link faultEnv}, or soon into the
 * one that runs.
 */
export function arm(rig: Rig, fault: Fault, given = ''): void {
  mkdirSync(folderOf(rig), { recursive: true });
  writeFileSync(join(rig.folder, 'fault'), given);
  renameSync(join(rig.folder, 'fault'), join(folderOf(rig), fault));
}

/**
 * Injects a fault into the agent of a rig that has {@link faultEnv}; resolves when the fault is
 * armed or has happened.
 */
export async function inject(rig: Rig, fault: Fault, given = ''): Promise<void> {
  arm(rig, fault, given);
  await eventually(() => !existsSync(join(folderOf(rig), fault)), { every: 10 });
}

function folderOf(rig: Rig): string {
  return join(rig.folder, 'faults');
}
