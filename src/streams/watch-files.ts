// Why: docs/decisions/027-each-link-is-watched.md
import { basename, dirname, join } from 'node:path';
import type { watch as Watch } from 'chokidar';
import {
  asyncScheduler,
  connect,
  defer,
  delay,
  filter,
  map,
  merge,
  Observable,
  repeat,
  type SchedulerLike,
  switchMap,
  take,
  takeUntil,
  tap,
  timer,
} from 'rxjs';
import { backOff } from '../operators/back-off.ts';
import { ofType } from '../operators/tagged-union.ts';
import type { SourceChange } from './config-source.ts';
import { entryNames } from './entry-names.ts';
import { type LinkHops, linkHops } from './link-hops.ts';

/** ms from an event to a new round, so that a burst of events causes only one. */
const settleDelay = 50;
/** The pauses before another try to watch a path. */
const pauses = { first: 1_000, longest: 30_000 };

const walk = async (paths: readonly string[]): Promise<LinkHops> =>
  new Map((await Promise.all(paths.map(linkHops))).flatMap((hops) => [...hops]));

const differ = (before: LinkHops, after: LinkHops) =>
  [...before].join('\n') !== [...after].join('\n');

const failure = (error: unknown) => {
  const { path = '', code, message } = error as NodeJS.ErrnoException;
  return { type: 'watch-failed', path, reason: code ?? message } as const;
};

/**
 * Emits `ready`, then the events of the hops, and at any time a path that cannot be watched. Never
 * completes.
 */
function watchHops(hops: LinkHops, watch: typeof Watch): Observable<SourceChange> {
  return new Observable<SourceChange>((subscriber) => {
    let isReady = false; // until then chokidar reports links that it merely finds
    const ready = () => {
      isReady = true;
      subscriber.next({ type: 'ready' });
    };
    const failed = (error: unknown) => {
      const sign = failure(error);
      if (!/^(ENOENT|ENOTDIR)$/.test(sign.reason)) subscriber.next(sign); // gone since the walk: the next walk finds out
    };
    const report = (path: string) => {
      if (isReady && hops.has(path)) subscriber.next({ type: 'changed', path });
    };

    const folders = new Set([...hops.keys()].map(dirname));
    const ends = [...hops].filter(([, identity]) => !identity.endsWith('/')).map(([path]) => path); // files, links, and absent entries
    const listed = new Set(ends.map(dirname));
    // chokidar 5.0.0 treats the root folder as removed, and with it everything that it watches
    // below.
    listed.delete('/');
    // It also reads the state of every entry of a folder at each event, even of a folder within the
    // listed one. That is too slow for a folder that a path leads to, or passes, such as /etc.
    for (const folder of folders)
      if (!listed.has(folder))
        subscriber.add(
          entryNames(folder).subscribe({
            next: (name = '') => report(join(folder, name)),
            error: failed,
          }),
        );
    const watcher = watch([...listed], {
      followSymlinks: false,
      depth: 0,
      ignoreInitial: true,
      ignored: (path) => !listed.has(path) && !hops.has(path),
      atomic: false, // true hides names that end in ~ or .swp
      persistent: false, // true shares one inotify watch per path, even after another folder has replaced the one at that path
    });
    watcher.on('ready', ready);
    watcher.on('error', failed);
    watcher.on('all', (_, path) => report(path));
    // 'all' comes from comparing folder listings and is throttled, so it misses quick changes, and
    // links that lead nowhere; inotify does not.
    watcher.on('raw', (_, name: string | null, details) => {
      const { watchedPath } = details as { watchedPath?: string };
      if (name === null || watchedPath === undefined) return;
      report(join(watchedPath, name));
      if (name === basename(watchedPath)) report(watchedPath); // the folder itself was moved or removed
    });
    subscriber.add(() => {
      void watcher.close();
      watcher.on('error', () => undefined); // close() drops our listener, and a pending lstat may still fail
    });
    if (listed.size === 0) ready(); // chokidar would not report it
  });
}

/**
 * Emits `ready` once, when the files at `paths` are watched, and `changed` whenever the target of
 * one of the paths may have changed: through a link, a folder on the way, or a path that did not
 * exist before. Other entries of the same folders cause nothing.
 *
 * Works in rounds: walk the paths, watch each hop, and start again after an event, because it may
 * have changed where the path leads. Between two rounds nothing is watched, so each later round
 * begins with a `changed`. A path that cannot be watched is reported once as `watch-failed` and
 * tried again after 1 s, doubling to 30 s; the rest is still watched. Cold: one chokidar a
 * subscription, closed on unsubscribe. Never ends, never errors, and does not keep the process
 * alive.
 */
export function watchFiles(
  paths: readonly string[],
  scheduler: SchedulerLike = asyncScheduler,
): Observable<SourceChange> {
  return defer(() => {
    let rounds = 0; // the rounds that became ready
    let failures = 0; // consecutive rounds that could not watch everything
    const reportedPaths = new Set<string>(); // the paths that they could not watch

    function round(hops: LinkHops, watch: typeof Watch): Observable<SourceChange> {
      let isWhole = true;
      return watchHops(hops, watch).pipe(
        tap(({ type }) => {
          if (type === 'watch-failed') isWhole = false;
          if (type !== 'ready' || !isWhole) return;
          failures = 0;
          reportedPaths.clear();
        }),
        connect((signs$) => {
          const event$ = signs$.pipe(ofType('changed'));
          const missed$ = signs$.pipe(
            ofType('ready'),
            switchMap(() => walk(paths)),
            filter((now) => differ(hops, now)),
          );
          const retry$ = signs$.pipe(
            ofType('watch-failed'),
            take(1),
            switchMap(() => timer(backOff(pauses, failures++), scheduler)),
          );
          return signs$.pipe(
            takeUntil(merge(merge(event$, missed$).pipe(delay(settleDelay, scheduler)), retry$)),
          );
        }),
      );
    }

    // Loaded here, because the first Envoy has been started by now.
    return defer(() => Promise.all([walk(paths), import('chokidar')])).pipe(
      switchMap(([hops, { watch }]) => round(hops, watch)),
      repeat(),
      filter(
        (sign) =>
          sign.type !== 'watch-failed' ||
          (!reportedPaths.has(sign.path) && reportedPaths.add(sign.path).size > 0),
      ),
      map((sign): SourceChange =>
        sign.type === 'ready' && rounds++ > 0 ? { type: 'changed' } : sign,
      ),
    );
  });
}
