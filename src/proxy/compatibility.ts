import { execFile } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import type { Verdict } from '../epochs/ports.ts';
import { noRoomFor, memory, residentOf } from './memory.ts';

/**
 * The verdict on a configuration that would work, with what there is to know of `newest`, the Envoy
 * that runs: whether there is room for another one, and whether one from `binary` as it is now can
 * be its child. `started` is what that was when the newest Envoy was started. Never rejects.
 */
export async function withCompatibility(
  verdict: Verdict,
  binary: string,
  started: string,
  newest: { readonly pid: number | undefined; readonly socketPath: string } | undefined,
): Promise<Verdict> {
  if (newest?.pid === undefined) return verdict;
  const { pid, socketPath } = newest;
  const reason = noRoomFor(memory(), residentOf(pid));
  if (reason !== undefined) return { kind: 'no-room', reason };
  // A child would have abstract sockets too, which everybody reaches.
  if (socketPath === '') return { kind: 'works-alone' };
  const flaw = socketsFlaw(dirname(socketPath));
  if (flaw !== undefined) return flaw;
  if (identityOf(binary) === started) return verdict;
  const [now, before] = await Promise.all([
    hotRestartVersion(binary),
    hotRestartVersion(`/proc/${pid}/exe`),
  ]);
  return now === before ? verdict : { kind: 'works-alone' };
}

/** A child has sockets beside those of its parent. Where it cannot now, it may be able to later. */
function socketsFlaw(folder: string): Verdict | undefined {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return { kind: 'works-alone' };
    return {
      kind: 'unchecked',
      reason: `a new Envoy could not reach the one that runs: ${message}`,
      outOfMemory: false,
    };
  }
}

/** In ms; 70 as a rule. */
const timeoutMs = 2_000;

/** What tells one file from another that took its place; '' for none. */
export function identityOf(path: string): string {
  try {
    const { dev, ino, size, mtimeMs } = statSync(path);
    return [dev, ino, size, mtimeMs].join();
  } catch {
    return '';
  }
}

/**
 * Resolves with what an Envoy binary says of the protocol by which its epochs talk, or undefined if
 * it does not. Never rejects.
 */
async function hotRestartVersion(binary: string): Promise<string | undefined> {
  return promisify(execFile)(binary, ['--hot-restart-version'], {
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  }).then(
    ({ stdout }) => stdout.trim(),
    () => undefined,
  );
}
