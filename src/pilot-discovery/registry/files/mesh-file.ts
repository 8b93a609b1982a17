import { largest, type OutsideFile, readOutsideSync } from '../../../shared/files/outside-file.ts';
import type { Flaw } from '../../istio/model.ts';
import { readMeshConfig, type ReadMesh } from '../../istio/read-mesh-config.ts';

/** The content of a file with a MeshConfig; `error` is why it is not used. */
export type MeshFile =
  | Exclude<OutsideFile, { readonly kind: 'read' }>
  | ({ readonly kind: 'read'; readonly error: Flaw | undefined } & ReadMesh);

/**
 * Reads the MeshConfig, at the start and after each change: both times by the same rules. Does not
 * wait for a FIFO. Never throws.
 */
export function readMeshFile(path: string): MeshFile {
  const file = readOutsideSync(path, largest.text);
  if (file.kind !== 'read') return file;
  const read = readMeshConfig(file.bytes.toString(), path);
  return { ...read, kind: 'read', error: read.flaws.find(({ severity }) => severity === 'error') };
}
