import { resolve } from 'node:path';
import { leftOut } from './left-out.ts';

interface BuildGuard {
  readonly guard: string;
  readonly canBuildGuard: () => boolean;
  readonly buildGuard: (file: string) => void;
}

const { guard, canBuildGuard, buildGuard } = (await import(
  resolve('scripts/build-guard.mjs')
)) as BuildGuard;

/**
 * Compiles the guard into a folder, and returns its path. Returns undefined, and reports that, if
 * the machine has no compiler.
 */
export function builtGuard(folder: string, what: string): string | undefined {
  if (!canBuildGuard()) {
    leftOut(`${what}: there is no compiler of C`, 'a program');
    return undefined;
  }
  const file = resolve(folder, guard);
  buildGuard(file);
  return file;
}
