import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { defer, map, type Observable, of } from 'rxjs';
import { writeWhole } from '../files/whole-file.ts';
import { settle } from '../operators/settle.ts';
import type { SecretSet } from './secret.ts';

/**
 * Writes `key.pem`, `cert-chain.pem` and `root-cert.pem` into `folder`, as far as the set has them: each 0600 (0777 in the Go agent) and by a rename. Emits why
 * that failed, or undefined, and completes. Cold; never errors.
 */
export function writeSet(folder: string, { pair, roots }: SecretSet): Observable<string | undefined> {
  const files = { ...(pair !== undefined && { 'key.pem': pair.key, 'cert-chain.pem': pair.chain }), ...(roots !== undefined && { 'root-cert.pem': roots }) }; // prettier-ignore
  return defer(() => {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    for (const [name, text] of Object.entries(files)) writeWhole(join(folder, name), text);
    return of(undefined);
  }).pipe(
    settle(),
    map((written) => (written.ok ? undefined : (written.error as Error).message)),
  );
}
