import type { PathEvent } from './watch-folders.ts';

/** What may have changed since it was looked at last. */
export interface ChangedEntries {
  /** Takes an event. Whether it is the first since the last time that somebody took. */
  readonly add: (event: PathEvent) => boolean;
  /** Makes that each entry of each folder may have changed. */
  readonly addAll: () => void;
  /**
   * What may have changed until now, which is forgotten. Without any event, each entry may have:
   * who looks then does not rely on events.
   */
  readonly take: () => TakenEntries;
}

export interface TakenEntries {
  /** Folder → the names in it that may have changed; `all` where each entry of each may have. */
  readonly entries: 'all' | ReadonlyMap<string, ReadonlySet<string>>;
  /** The watched paths that an event names themselves. */
  readonly named: ReadonlySet<string>;
}

/**
 * So many events at a time, and the kernel may have dropped some: it keeps 16,384 for a process
 * that is late (inotify(7)), and says nothing of it to Node.
 */
const most = 4_000;

/**
 * Gathers events until somebody looks, in bounded memory: after so many each entry counts as
 * changed.
 */
export function changedEntries(): ChangedEntries {
  let [folders, named] = [new Map<string, Set<string>>(), new Set<string>()];
  let count = 0;
  let isAll = true; // nothing has been looked at yet
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
      const taken: TakenEntries = { named, entries: isAll || count === 0 ? 'all' : folders };
      [folders, named] = [new Map<string, Set<string>>(), new Set<string>()];
      [count, isAll] = [0, false];
      return taken;
    },
  };
}
