import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { promisify } from 'node:util';

/** In ms; 70 as a rule. */
const patience = 2_000;

/** What tells one file from another that took its place; '' for none. */
export function identityOf(path: string): string {
  try {
    const { dev, ino, size, mtimeMs } = statSync(path);
    return [dev, ino, size, mtimeMs].join();
  } catch {
    return '';
  }
}

/** Resolves with what an Envoy binary says of the protocol by which its epochs talk, or undefined if it does not. Never rejects. */
export async function hotRestartVersion(binary: string): Promise<string | undefined> {
  return promisify(execFile)(binary, ['--hot-restart-version'], { timeout: patience, killSignal: 'SIGKILL' }).then(
    ({ stdout }) => stdout.trim(),
    () => undefined,
  );
}
