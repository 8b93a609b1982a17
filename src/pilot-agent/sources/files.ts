import { isUtf8 } from 'node:buffer';
import { basename, resolve } from 'node:path';
import {
  asyncScheduler,
  defer,
  filter,
  map,
  merge,
  NEVER,
  type Observable,
  type ObservableInput,
  switchMap,
  tap,
  timer,
} from 'rxjs';
import { largest } from '../../shared/files/outside-file.ts';
import { changedEntries, type PossibleChanges } from '../../streams/changed-entries.ts';
import type { Content, ContributingSource, Use } from './contribution.ts';
import { fileTree, type TreeFile, type TreePath } from './file-tree.ts';
import { source, type SourceOptions } from './source.ts';
import { lookPause } from '../../streams/look-pause.ts';
import { type PathEvent, watchFolders } from '../../streams/watch-folders.ts';

export interface FilesOptions extends Omit<SourceOptions, 'watch' | 'every'> {
  /** Its name in the log and in metrics; the paths if left out. */
  readonly name?: string;
  /**
   * Checks all files after this many ms without an event; 60,000 if left out. With many files, a
   * check takes long and happens less often.
   */
  readonly every?: number;
}

/** The largest size of a file, in bytes. For a restart it is only hashed. */
const sizes: Readonly<Record<Use, number>> = {
  restart: largest.envoy,
  envoy: largest.envoy,
  merge: largest.text,
  runtime: largest.text,
  secret: largest.pem,
};

/** In ms. The delay of the watch, so that the first Envoy starts before it. */
const watchAfter = 500;
/**
 * The delay from an event to a check of the files, in ms: usually, and shortly after another check.
 */
const gather = { first: 5, further: 250 };
const busy = 1_000;

/**
 * Reads files, and the files in folders. For `restart` the content is their digests, by path.
 * Otherwise a file gives its text, a folder an object of its files by name, and several paths an
 * object by path. Secrets are bytes instead of texts.
 *
 * Follows links, and watches those that a path leads over; handles the swap of `..data` by which
 * Kubernetes replaces a mounted folder. Reads a change at once, and only the files that changed. A
 * missing path is a failure, except for `restart`.
 */
export function files(paths: readonly string[], options: FilesOptions = {}): ContributingSource {
  const whole = [...new Set(paths.filter((path) => path !== '').map((path) => resolve(path)))];
  const { name = whole.join(', '), as = 'restart', scheduler = asyncScheduler } = options;
  const tree = fileTree(whole, { largest: sizes[as], keeps: as !== 'restart' });
  const event$ = defer(() => watchFolders(whole, scheduler));
  return lookedAt({ look: tree.look, event$ }, { ...options, name });
}

/** The state of paths, and the events of their changes. */
interface Paths {
  look(changed: PossibleChanges): ObservableInput<readonly TreePath[]>;
  readonly event$: Observable<PathEvent>;
}

/** Makes the same source with another way to read and watch paths. */
export function lookedAt(
  paths: Paths,
  options: FilesOptions & { readonly name: string },
): ContributingSource {
  const {
    name,
    as = 'restart',
    every = 60_000,
    timeout = 60_000,
    scheduler = asyncScheduler,
  } = options;
  const changed = changedEntries();
  let last: number | undefined; // when the last check ended
  let took = 0; // how long the last check of all paths took

  const look$ = defer(() => {
    const begun = scheduler.now();
    const changes = changed.take();
    return defer(() => paths.look(changes)).pipe(
      tap({
        next: () => {
          last = scheduler.now();
          if (changes.entries === 'all') took = last - begun;
        },
        error: () => changed.addAll(),
      }),
    );
  });
  const read = () => {
    const pause =
      last === undefined ? 0 : scheduler.now() - last < busy ? gather.further : gather.first;
    return timer(pause, scheduler).pipe(
      switchMap(() => look$),
      map((treePaths) => contentOf(treePaths, as)),
    );
  };
  const watched$ = timer(watchAfter, scheduler).pipe(
    switchMap(() => paths.event$),
    filter((event) => changed.add(event)),
  );
  const triggers$ = (options.on$ ?? NEVER).pipe(tap(() => changed.addAll()));
  return source(name, read, {
    ...options,
    timeout,
    watch: [],
    on$: merge(watched$, triggers$),
    every: () => lookPause(every, took),
  });
}

/** Returns the content; throws if a needed file is missing or cannot be read. */
function contentOf(treePaths: readonly TreePath[], as: Use): Content {
  if (as === 'restart') return digests(treePaths);
  const missing = treePaths.find(({ isFolder, files }) => !isFolder && files.size === 0);
  if (missing !== undefined) throw new Error(`${missing.path} is not there`);
  const values = allOf(treePaths).map(([path, file]) => [path, valueOf(path, file, as)] as const);
  const [only, ...others] = treePaths;
  if (only === undefined || others.length > 0) return Object.fromEntries(values);
  return only.isFolder
    ? Object.fromEntries(values.map(([path, value]) => [basename(path), value]))
    : (values[0]?.[1] ?? '');
}

/** Returns the digests of all readable files. Runs at each change, also for very many files. */
function digests(treePaths: readonly TreePath[]): Content {
  const digestByPath = new Map<string, string>();
  for (const { path, isFolder, files } of treePaths) {
    for (const [name, { flaw, digest }] of files)
      if (flaw === undefined) digestByPath.set(isFolder ? `${path}/${name}` : path, digest);
  }
  return Object.fromEntries(digestByPath);
}

function allOf(
  treePaths: readonly TreePath[],
): readonly (readonly [path: string, file: TreeFile])[] {
  return treePaths.flatMap(({ path, isFolder, files }) =>
    [...files].map(([name, file]) => [isFolder ? `${path}/${name}` : path, file] as const),
  );
}

function valueOf(
  path: string,
  { bytes = Buffer.alloc(0), flaw }: TreeFile,
  as: Use,
): string | Buffer {
  if (flaw !== undefined) throw new Error(`${path} cannot be read: ${flaw}`);
  if (as === 'secret') return bytes;
  if (!isUtf8(bytes)) throw new Error(`${path} is not text in UTF-8`);
  return bytes.toString();
}
