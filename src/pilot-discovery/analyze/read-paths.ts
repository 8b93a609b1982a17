import { readOutsideSync } from '../../shared/files/outside-file.ts';
import { atOnce, type Steps } from '../../shared/text/steps.ts';
import { emptyStore, reduceStore, type Store } from '../environment/store.ts';
import type { StoreEvent } from '../environment/store-event.ts';
import { readResourcesInSteps } from '../istio/read-resources.ts';
import { largestFile, lookAtFolder } from '../registry/files/folder-reader.ts';
import { reduceFolder, unknownFolder } from '../registry/files/folder-state.ts';
import {
  digestOf,
  type KnownFile,
  readKnownFile,
  unreadableFile,
} from '../registry/files/known-file.ts';
import { noWinners, withFiles } from '../registry/files/winners.ts';

/**
 * A store with the resources of files and folders. If two of them have the same resource, the
 * first one counts, and the other has a flaw. Reads as `--configDir` of the control plane does.
 */
export function readPaths(
  paths: readonly { readonly path: string; readonly kind: 'file' | 'folder' }[],
): Store {
  return paths
    .flatMap(({ path, kind }) => (kind === 'folder' ? folderEvents(path) : fileEvents(path)))
    .reduce<Store>(
      (store, event) => reduceStore(store, event)[0],
      emptyStore(paths.map(({ path }) => path)),
    );
}

function folderEvents(folder: string): readonly StoreEvent[] {
  const options = {
    source: folder,
    read: readResourcesInSteps,
    defaultNamespace: 'default',
    now: () => 0,
  };
  const everything = { entries: 'all', named: new Set<string>() } as const;
  const looked = atOnce(lookAtFolder(folder, unknownFolder, everything, options));
  return reduceFolder(unknownFolder, looked, folder)[1];
}

function fileEvents(path: string): readonly StoreEvent[] {
  const place = { source: path, path, defaultNamespace: 'default' };
  const found = readOutsideSync(path, largestFile);
  const file: KnownFile =
    found.kind === 'read'
      ? atOnce(knownFile(found.bytes))
      : unreadableFile(
          undefined,
          place,
          found.kind === 'absent' ? 'it is not there' : found.reason,
        );
  const { resources, flaws } = withFiles(noWinners, [{ before: undefined, after: file }]);
  return [
    { type: 'changed', source: path, upserts: [...resources.values()], removes: [] },
    { type: 'flaws', source: path, flaws: [...flaws.values()].flat() },
    { type: 'synced', source: path },
  ];

  function knownFile(bytes: Buffer): Steps<KnownFile> {
    return readKnownFile(undefined, bytes, digestOf(bytes), place, readResourcesInSteps);
  }
}
