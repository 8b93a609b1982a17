import { execFile } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import type { Verdict } from '../epochs/ports.ts';
import { noRoomFor, memory, residentOf } from './memory.ts';

/**
 * Completes the verdict on a configuration that works, by comparing it with `newest`, the running
 * Envoy: whether there is room for a second one, and whether one from the current `binary` can be
 * its child. `started` is the identity of the binary from which the newest Envoy was started. Never
 * rejects.
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
  // A child would have abstract sockets too, which everybody can reach.
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

/**
 * Returns a verdict if a child cannot make its sockets in the folder of its parent's sockets;
 * undefined if it can. A folder that cannot be written to may become writable later.
 */
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

/** In ms; usually it takes 70. */
const timeoutMs = 2_000;

/**
 * Returns an identity that changes when another file takes the place of this one; '' if there is
 * none.
 */
export function identityOf(path: string): string {
  try {
    const { dev, ino, size, mtimeMs } = statSync(path);
    return [dev, ino, size, mtimeMs].join();
  } catch {
    return '';
  }
}

/**
 * Resolves with the version of a binary's hot restart protocol, or undefined if it does not report
 * one. Never rejects.
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
