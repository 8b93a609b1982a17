// Why: docs/decisions/046-files-are-read-at-one-moment.md
import { join } from 'node:path';
import {
  asyncScheduler,
  concatMap,
  defer,
  filter,
  identity,
  map,
  type Observable,
  type SchedulerLike,
  switchMap,
} from 'rxjs';
import { largest, readOutside } from '../../shared/files/outside-file.ts';
import { fileSource } from '../../streams/file-source.ts';
import { readings } from '../../streams/readings.ts';
import { checkedSet, oncePatient, untilWhole } from './checked-set.ts';
import type { SetReading } from './secret.ts';

/**
 * The folder of the Go agent's certificates, relative to the working directory of the agent: in a
 * container that is `/`.
 */
const usual = './etc/certs';

/**
 * Returns the files of `default` and `ROOTCA`: in `PROV_CERT`, else those that
 * `ISTIO_META_TLS_SERVER_*` name, else those that `ISTIO_META_TLS_CLIENT_*` name, else in
 * `./etc/certs`. Pure.
 *
 * @param sides the paths of the server's and the client's side, and whether a variable names any of
 * them
 */
export function workloadFiles(
  provisioned: string,
  sides: readonly (SecretPaths & { readonly isNamed: boolean })[],
): SecretPaths {
  if (provisioned !== '') return inFolder(provisioned);
  const named = sides.find(({ isNamed }) => isNamed);
  if (named === undefined) return inFolder(usual);
  const { chain, key, root } = named;
  return { chain, key, root };
}

function inFolder(folder: string): SecretPaths {
  return {
    chain: join(folder, 'cert-chain.pem'),
    key: join(folder, 'key.pem'),
    root: join(folder, 'root-cert.pem'),
  };
}

/** The paths of the parts of a set; an empty path is a part that the set does not have. */
export interface SecretPaths {
  readonly chain: string;
  readonly key: string;
  readonly root: string;
}

/**
 * Reads the files of a set once, checks them, and emits the result. Cold; one value; never errors.
 *
 * An absent file is not part of the set, but half a pair is refused: its other half will follow. A
 * flaw of one part does not affect the other.
 */
export function readSecretFiles(
  { chain, key, root }: SecretPaths,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<SetReading> {
  const source = [chain, key, root].filter((path) => path !== '').join(', ');
  return defer(async (): Promise<SetReading> => {
    const files = await Promise.all([chain, key, root].map(read));
    const [chainFile, keyFile, rootFile] = files.map(({ content }) => content);
    const flawOf = (...parts: readonly number[]) =>
      parts.map((part) => files[part]?.flaw).find((flaw) => flaw !== undefined);
    const [pair, roots] = [flawOf(0, 1) ?? half([chain, chainFile], [key, keyFile]), flawOf(2)];
    const set = {
      ...(chainFile !== undefined &&
        keyFile !== undefined && { pair: { chain: chainFile.toString(), key: keyFile } }),
      ...(rootFile !== undefined && { roots: rootFile.toString() }),
    };
    const flaws = { ...(pair !== undefined && { pair }), ...(roots !== undefined && { roots }) };
    return checkedSet(
      { source, places: { pair: `${chain}, ${key}`, roots: root }, set, flaws },
      scheduler.now(),
    );
  });
}

type ReadFile = readonly [path: string, content: Buffer | undefined];

function half([chain, chainFile]: ReadFile, [key, keyFile]: ReadFile): string | undefined {
  if (chainFile === undefined && keyFile !== undefined)
    return `${chain}: the certificate is missing`;
  if (chainFile !== undefined && keyFile === undefined) return `${key}: the key is missing`;
  return undefined;
}

async function read(path: string): Promise<{ readonly content?: Buffer; readonly flaw?: string }> {
  if (path === '') return {};
  const file = await readOutside(path, largest.pem);
  if (file.kind === 'read') return { content: file.bytes };
  return file.kind === 'absent' ? {} : { flaw: `${path} cannot be read: ${file.reason}` };
}

/**
 * The time from the first change to the reading, in ms. A push costs Envoy nothing, and parts that
 * do not fit together are not pushed.
 */
const settle = 20;
/**
 * Emits a reading of the set in the files at `paths` at once, and one after each change of a file,
 * in whatever way it is replaced.
 *
 * A reading is of one moment: if a file changes while it is read, the reading is dropped, because
 * the change leads to another one. Cold: a subscription is a watcher. Never ends, never errors.
 */
export function fileSecrets(
  paths: SecretPaths,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<SetReading> {
  const source = fileSource([paths.chain, paths.key, paths.root], scheduler);
  function reading(before: string): Observable<SetReading> {
    return readSecretFiles(paths, scheduler).pipe(
      concatMap((read) =>
        source.reading$.pipe(map(({ hash }) => (hash === before ? read : undefined))),
      ),
      filter((read) => read !== undefined),
    );
  }
  return readings(source, { minDelay: settle }, scheduler).pipe(
    switchMap(({ hash }, index) =>
      reading(hash).pipe(index === 0 ? identity : oncePatient(scheduler), untilWhole(scheduler)),
    ),
  );
}
