import { largest, type OutsideFile, readOutsideSync } from '../../../shared/files/outside-file.ts';
import type { Flaw } from '../../istio/model.ts';
import { readMeshConfig, type ReadMesh } from '../../istio/read-mesh-config.ts';

/** What a file with a MeshConfig says; `error` is why that does not hold. */
export type MeshFile =
  | Exclude<OutsideFile, { readonly kind: 'read' }>
  | ({ readonly kind: 'read'; readonly error: Flaw | undefined } & ReadMesh);

/**
 * Reads the MeshConfig, at the start and whenever the file has changed: what is not taken at one
 * time is not at the other. A FIFO is not waited for. Never throws.
 */
export function readMeshFile(path: string): MeshFile {
  const file = readOutsideSync(path, largest.text);
  if (file.kind !== 'read') return file;
  const read = readMeshConfig(file.bytes.toString(), path);
  return { ...read, kind: 'read', error: read.flaws.find(({ severity }) => severity === 'error') };
}
