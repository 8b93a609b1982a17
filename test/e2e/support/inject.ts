import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'vitest';
import type { Rig } from './rig.ts';

/** What can be made to fail once in a real agent, by something of Node that throws: see `faults.cjs`. */
export type Fault = 'server' | 'pack' | 'hash' | 'expiry' | 'words' | 'past' | 'core' | 'uncaught' | 'rejection';

/** The environment of an agent that faults can be injected into. */
export function faultEnv(rig: Rig): NodeJS.ProcessEnv {
  return { NODE_OPTIONS: `--require ${resolve('test/e2e/support/faults.cjs')}`, FAULTS: join(rig.folder, 'faults') };
}

/** Injects a fault into the agent of a rig that has {@link faultEnv}; resolves when it is armed, or has happened. */
export async function inject(rig: Rig, fault: Fault, given = ''): Promise<void> {
  const folder = join(rig.folder, 'faults');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(rig.folder, 'fault'), given);
  renameSync(join(rig.folder, 'fault'), join(folder, fault));
  await expect.poll(() => existsSync(join(folder, fault)), { timeout: 5_000, interval: 10 }).toBe(false);
}
