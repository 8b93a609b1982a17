import type { PathEvent } from './watch-folders.ts';

/** The entries that may have changed since the last look. */
export interface ChangedEntries {
  /** Adds an event. Returns whether it is the first since the last `take`. */
  readonly add: (event: PathEvent) => boolean;
  /** Marks each entry of each folder as possibly changed. */
  readonly addAll: () => void;
  /**
   * Returns the entries that may have changed until now, and clears them. Without an event each
   * entry counts as changed: the caller has another reason to look.
   */
  readonly take: () => PossibleChanges;
}

export interface PossibleChanges {
  /**
   * Folder → the names in it that may have changed; `all` if each entry of each folder may have.
   */
  readonly entries: 'all' | ReadonlyMap<string, ReadonlySet<string>>;
  /** The watched paths that an event named directly. */
  readonly named: ReadonlySet<string>;
}

/**
 * After this many events the kernel may have dropped some: it keeps 16,384 for a process that is
 * late (inotify(7)), and Node does not learn of the loss.
 */
const most = 4_000;

/**
 * Collects events until the next look, in bounded memory: after `most` of them each entry counts as
 * changed.
 */
export function changedEntries(): ChangedEntries {
  let [folders, named] = [new Map<string, Set<string>>(), new Set<string>()];
  let count = 0;
  let isAll = true; // nothing was looked at yet
  const addAll = () => {
    isAll = true;
    folders.clear();
  };
  return {
    addAll,
    add: ({ folder, name }) => {
      count += 1;
      // Kubernetes replaces all files of a mounted folder by a rename of its link `..data`.
      if (count > most || (folder !== undefined && (name === undefined || name.startsWith('..'))))
        addAll();
      else if (folder === undefined) named.add(name ?? '');
      else if (!isAll && name !== undefined)
        folders.set(folder, (folders.get(folder) ?? new Set()).add(name));
      return count === 1;
    },
    take: () => {
      const changed: PossibleChanges = { named, entries: isAll || count === 0 ? 'all' : folders };
      [folders, named] = [new Map<string, Set<string>>(), new Set<string>()];
      [count, isAll] = [0, false];
      return changed;
    },
  };
}
