import { readOutsideSync, unreadReason } from '../../../shared/files/outside-file.ts';
import { atOnce } from '../../../shared/text/steps.ts';
import { emptyStore, reduceStore, type Store } from '../../environment/store.ts';
import type { StoreEvent } from '../../environment/store-event.ts';
import { readResourcesInSteps } from '../../istio/documents/read-resources.ts';
import { largestFile, lookAtFolder } from './folder-reader.ts';
import { type Looked, reduceFolder, unknownFolder } from './folder-state.ts';
import { unknownTree } from './folder-tree.ts';
import { digestOf, type FileContent, readFileContent, unreadableFile } from './file-content.ts';

export interface ReadPath {
  readonly path: string;
  readonly kind: 'file' | 'folder';
}

/**
 * A store with the resources of files and folders. If two of them have the same resource, the
 * first one counts, and the other has a flaw. Reads as `--configDir` of the control plane does.
 *
 * @param defaultNamespace the namespace of resources that name none
 */
export function readPaths(paths: readonly ReadPath[], defaultNamespace: string): Store {
  return paths
    .flatMap(({ path, kind }) =>
      kind === 'folder' ? folderEvents(path, defaultNamespace) : fileEvents(path, defaultNamespace),
    )
    .reduce<Store>(
      (store, event) => reduceStore(store, event)[0],
      emptyStore(paths.map(({ path }) => path)),
    );
}

function folderEvents(folder: string, defaultNamespace: string): readonly StoreEvent[] {
  const options = {
    source: folder,
    read: readResourcesInSteps,
    defaultNamespace,
    now: () => 0,
  };
  const everything = { entries: 'all', named: new Set<string>() } as const;
  const looked = atOnce(lookAtFolder(folder, unknownFolder, everything, options));
  return reduceFolder(unknownFolder, looked, folder)[1];
}

function fileEvents(path: string, defaultNamespace: string): readonly StoreEvent[] {
  const place = { source: path, path, defaultNamespace };
  const outsideFile = readOutsideSync(path, largestFile);
  const file: FileContent =
    outsideFile.kind === 'read'
      ? atOnce(
          readFileContent(
            undefined,
            outsideFile.bytes,
            digestOf(outsideFile.bytes),
            place,
            readResourcesInSteps,
          ),
        )
      : unreadableFile(undefined, place, unreadReason(outsideFile));
  const reading = { digest: file.digest, file, isDoubtful: false };
  const looked: Looked = {
    type: 'read',
    tree: unknownTree,
    readings: new Map([[path, reading]]),
    unlisted: undefined,
    now: 0,
  };
  return reduceFolder(unknownFolder, looked, path)[1];
}
