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
import { changedEntries, type TakenEntries } from '../../streams/changed-entries.ts';
import type { Content, ContributingSource, Use } from './contribution.ts';
import { fileTree, type SeenFile, type SeenPath } from './file-tree.ts';
import { source, type SourceOptions } from './source.ts';
import { type PathEvent, watchFolders } from '../../streams/watch-folders.ts';

export interface FilesOptions extends Omit<SourceOptions, 'watch' | 'every'> {
  /** In the log and in metrics; the paths if left out. */
  readonly name?: string;
  /**
   * Looks at all of them so many ms after the last time even if nobody says that they have changed;
   * 60,000 if left out. A look at many takes long, and comes less often.
   */
  readonly every?: number;
}

/** How large a file may be, in bytes. For a restart it is only hashed. */
const sizes: Readonly<Record<Use, number>> = {
  restart: largest.envoy,
  envoy: largest.envoy,
  merge: largest.text,
  runtime: largest.text,
  secret: largest.pem,
};

/** The watch begins later than the first Envoy. In ms. */
const watchAfter = 500;
/** From an event to a look, in ms: usually, and not long after another look. */
const gather = { first: 5, further: 250 };
const busy = 1_000;
/** What looks without an event may take, of all time. */
const share = 1 / 2_000;

/**
 * Files, and the files in folders: of a restart their digests, by path; else what is in them. That
 * is the text of a path that leads to a file; of a folder an object of its files by name; of
 * several paths an object by path. For secrets there are bytes in the place of texts.
 *
 * Links are followed, and watched where a path leads over them; the swap of `..data` by which
 * Kubernetes replaces a mounted folder is known. A change is read at once, and no file that has
 * not changed with it. What is not there is no failure for a restart, and one for all else.
 */
export function files(paths: readonly string[], options: FilesOptions = {}): ContributingSource {
  const whole = [...new Set(paths.filter((path) => path !== '').map((path) => resolve(path)))];
  const { name = whole.join(', '), as = 'restart', scheduler = asyncScheduler } = options;
  const tree = fileTree(whole, { largest: sizes[as], keeps: as !== 'restart' });
  const event$ = defer(() => watchFolders(whole, scheduler));
  return lookedAt({ look: tree.look, event$ }, { ...options, name });
}

/** What there is at paths, and what may have changed of it. */
interface Paths {
  look(changed: TakenEntries): ObservableInput<readonly SeenPath[]>;
  readonly event$: Observable<PathEvent>;
}

/** The same, of paths that are looked at and watched in another way. */
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
  let last: number | undefined; // when the last look ended
  let took = 0; // how long the last one at all of them took

  const look$ = defer(() => {
    const begun = scheduler.now();
    const taken = changed.take();
    return defer(() => paths.look(taken)).pipe(
      tap({
        next: () => {
          last = scheduler.now();
          if (taken.entries === 'all') took = last - begun;
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
      map((seen) => contentOf(seen, as)),
    );
  };
  const watched$ = timer(watchAfter, scheduler).pipe(
    switchMap(() => paths.event$),
    filter((event) => changed.add(event)),
  );
  const asked$ = (options.on$ ?? NEVER).pipe(tap(() => changed.addAll()));
  return source(name, read, {
    ...options,
    timeout,
    watch: [],
    on$: merge(watched$, asked$),
    every: () => Math.max(every, took / share),
  });
}

/** Throws what is wrong with what there has to be. */
function contentOf(seen: readonly SeenPath[], as: Use): Content {
  if (as === 'restart') return digests(seen);
  const missing = seen.find(({ isFolder, files }) => !isFolder && files.size === 0);
  if (missing !== undefined) throw new Error(`${missing.path} is not there`);
  const values = allOf(seen).map(([path, file]) => [path, valueOf(path, file, as)] as const);
  const [only, ...others] = seen;
  if (only === undefined || others.length > 0) return Object.fromEntries(values);
  return only.isFolder
    ? Object.fromEntries(values.map(([path, value]) => [basename(path), value]))
    : (values[0]?.[1] ?? '');
}

/** Of what can be read. Made with each change anew, of very many as well. */
function digests(seen: readonly SeenPath[]): Content {
  const found = new Map<string, string>();
  for (const { path, isFolder, files } of seen) {
    for (const [name, { flaw, digest }] of files)
      if (flaw === undefined) found.set(isFolder ? `${path}/${name}` : path, digest);
  }
  return Object.fromEntries(found);
}

function allOf(seen: readonly SeenPath[]): readonly (readonly [path: string, file: SeenFile])[] {
  return seen.flatMap(({ path, isFolder, files }) =>
    [...files].map(([name, file]) => [isFolder ? `${path}/${name}` : path, file] as const),
  );
}

function valueOf(
  path: string,
  { bytes = Buffer.alloc(0), flaw }: SeenFile,
  as: Use,
): string | Buffer {
  if (flaw !== undefined) throw new Error(`${path} cannot be read: ${flaw}`);
  if (as === 'secret') return bytes;
  if (!isUtf8(bytes)) throw new Error(`${path} is no text in UTF-8`);
  return bytes.toString();
}
