import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { defer, map, type Observable, of } from 'rxjs';
import { largest, readOutsideSync } from '../../shared/files/outside-file.ts';
import { settle } from '../../operators/settle.ts';
import type { SecretSet } from './secret.ts';

/**
 * The link to the folder with the current files, named as by kubelet, and the prefix of our own
 * folders.
 */
const data = '..data';
const prefix = '..set-';

/**
 * Writes `key.pem`, `cert-chain.pem` and `root-cert.pem` into `folder`, if the set has them: each
 * with mode 0600 (0777 in the Go agent), and all of them at once, by the swap of a link, as kubelet
 * does. Emits the reason if that failed, or undefined, and completes. Cold; never errors.
 */
export function writeSet(
  folder: string,
  { pair, roots }: SecretSet,
): Observable<string | undefined> {
  const files = {
    ...(pair !== undefined && { 'key.pem': pair.key, 'cert-chain.pem': pair.chain }),
    ...(roots !== undefined && { 'root-cert.pem': roots }),
  };
  return defer(() => {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    // First replace plain files of another agent by links to the same content.
    if (linkTarget(join(folder, data)) === undefined)
      swap(folder, present(folder, Object.keys(files)));
    swap(folder, files);
    return of(undefined);
  }).pipe(
    settle(),
    map((written) => (written.ok ? undefined : (written.error as Error).message)),
  );
}

function swap(folder: string, files: Readonly<Record<string, string | Buffer>>): void {
  const newFolder = mkdtempSync(join(folder, prefix)); // 0700
  try {
    for (const [name, content] of Object.entries(files))
      writeFileSync(join(newFolder, name), content, { mode: 0o600 });
    link(basename(newFolder), join(folder, data), newFolder);
  } catch (error) {
    rmSync(newFolder, { recursive: true });
    throw error;
  }
  for (const name of Object.keys(files)) {
    const target = join(data, name);
    if (linkTarget(join(folder, name)) !== target) link(target, join(folder, name), newFolder);
  }
  for (const entry of readdirSync(folder)) {
    const isOld =
      entry.startsWith(prefix) && entry !== basename(newFolder) && isOwn(join(folder, entry));
    const leadsNowhere =
      linkTarget(join(folder, entry)) === join(data, entry) && !Object.hasOwn(files, entry);
    if (isOld || leadsNowhere) rmSync(join(folder, entry), { recursive: true });
  }
}

/**
 * Puts a link at `path` in one step, in the place of whatever is there. Makes it in `folder` first,
 * which belongs to this user.
 */
function link(target: string, path: string, folder: string): void {
  const beside = join(folder, '..link');
  symlinkSync(target, beside);
  renameSync(beside, path);
}

function isOwn(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.uid === process.geteuid?.();
}

function linkTarget(path: string): string | undefined {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
    ? readlinkSync(path)
    : undefined;
}

/** Returns the content of those files that exist. */
function present(folder: string, names: readonly string[]): Readonly<Record<string, Buffer>> {
  const existing = names.filter((name) =>
    lstatSync(join(folder, name), { throwIfNoEntry: false })?.isFile(),
  );
  const read = existing.map(
    (name) => [name, readOutsideSync(join(folder, name), largest.pem)] as const,
  );
  return Object.fromEntries(
    read.flatMap(([name, file]) => (file.kind === 'read' ? [[name, file.bytes]] : [])),
  );
}
