import { createHash } from 'node:crypto';
import {
  asyncScheduler,
  distinctUntilChanged,
  map,
  type Observable,
  type SchedulerLike,
} from 'rxjs';
import { pemCertificates } from '../../shared/certificates/key-pair-flaw.ts';
import { pairFlaw } from '../../shared/certificates/pair-flaw.ts';
import { largest, readOutside } from '../../shared/files/outside-file.ts';
import { rereadFiles } from './reread-files.ts';

/** The certificate of a server and its key, and the roots that verify its clients; all PEM. */
export interface ServingPair {
  readonly chain: string;
  /** Bytes: a text stays in the heap. The server overwrites them when OpenSSL has the key. */
  readonly key: Buffer;
  readonly roots: string;
  /** The CRLs of the clients' certificates. */
  readonly crl?: string;
}

/**
 * A certificate to serve with, or why there is none: the previous certificate then stays in use.
 */
export type ServingEvent =
  | { readonly type: 'serving'; readonly serving: ServingPair }
  | { readonly type: 'unserved'; readonly reason: string };

/** The paths of the files. The first existing file with roots is used. */
export interface ServingPaths {
  readonly chain: string;
  readonly key: string;
  readonly roots: readonly string[];
}

/**
 * Emits the certificate that the files have, then each new one. If they cannot be used, emits the
 * reason, once. Cold; never completes, never errors.
 */
export function servingFiles(
  paths: ServingPaths,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<ServingEvent> {
  const all = [paths.chain, paths.key, ...paths.roots];
  return rereadFiles(all, () => readServing(paths, scheduler.now()), scheduler).pipe(
    map((event) => ({ event, print: printOf(event) })),
    distinctUntilChanged((before, after) => before.print === after.print),
    map(({ event }) => event),
  );
}

/** Returns a digest of an event. The key itself does not become a text. */
function printOf(event: ServingEvent): string {
  const hash = createHash('sha256');
  if (event.type === 'unserved') return hash.update(event.reason).digest('hex');
  const { chain, key, roots } = event.serving;
  for (const part of [chain, key, roots]) hash.update(`${part.length} `).update(part);
  return hash.digest('hex');
}

/** Never rejects. */
async function readServing(paths: ServingPaths, now: number): Promise<ServingEvent> {
  const [chain, key, ...roots] = await Promise.all([
    readPem('the certificate', paths.chain),
    readPem('the key', paths.key),
    ...paths.roots.map((path) => readPem('the roots', path)),
  ]);
  const rootsUsed = roots.find(({ kind }) => kind !== 'absent') ?? roots[0];
  const files = [chain, key, rootsUsed];
  for (const file of files)
    if (file?.kind !== 'read') return { type: 'unserved', reason: file?.reason ?? 'no roots' };
  const serving = { chain: textOf(chain), key: bytesOf(key), roots: textOf(rootsUsed) };
  const flaw = pairFlaw(serving.chain, serving.key, now);
  if (flaw !== undefined)
    return { type: 'unserved', reason: `${paths.chain}, ${paths.key}: ${flaw}` };
  return (pemCertificates(serving.roots) ?? []).length === 0
    ? { type: 'unserved', reason: `${paths.roots.join(', ')}: there is no certificate in it` }
    : { type: 'serving', serving };
}

type PemFile =
  | { readonly kind: 'read'; readonly bytes: Buffer }
  | { readonly kind: 'absent' | 'unreadable'; readonly reason: string };

async function readPem(what: string, path: string): Promise<PemFile> {
  const file = await readOutside(path, largest.pem);
  return file.kind === 'read'
    ? { kind: 'read', bytes: file.bytes }
    : { kind: file.kind, reason: `${what} cannot be read: ${path}: ${file.reason}` };
}

const bytesOf = (file: PemFile | undefined): Buffer =>
  file?.kind === 'read' ? file.bytes : Buffer.alloc(0);
const textOf = (file: PemFile | undefined): string => bytesOf(file).toString();
