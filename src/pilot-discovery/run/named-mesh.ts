import { exitCodes, Fatal } from '../../shared/program/exit.ts';
import { defaultMeshConfig } from '../istio/mesh-config.ts';
import { placeOf } from '../istio/place-of.ts';
import type { ReadMesh } from '../istio/read-mesh-config.ts';
import { readMeshFile } from '../registry/files/mesh-file.ts';

/** The MeshConfig at the start, without an error, and whether it is from a file. */
export interface NamedMesh extends ReadMesh {
  readonly origin: 'file' | 'none';
}

const defaults: NamedMesh = {
  mesh: defaultMeshConfig,
  folders: [],
  flaws: [],
  origin: 'none',
};

/**
 * Returns the MeshConfig of the file that `--meshConfig` names; the defaults if it names none.
 * Throws a {@link Fatal} (78) if the file is missing, cannot be read or is wrong.
 *
 * @param standard the file if none is named, which may be missing; '' for none
 */
export function namedMesh(path: string | undefined, standard = ''): NamedMesh {
  const place = path ?? standard;
  if (place === '') return defaults;
  const file = readMeshFile(place);
  if (file.kind === 'absent' && path === undefined) return defaults;
  if (file.kind === 'absent')
    throw new Fatal(
      `--meshConfig ${place}: it does not exist: name the file with the MeshConfig, or leave the flag out for the defaults`,
      exitCodes.config,
    );
  if (file.kind === 'unreadable')
    throw new Fatal(`--meshConfig ${place}: it cannot be read: ${file.reason}`, exitCodes.config);
  const { mesh, folders, flaws, error } = file;
  if (error !== undefined)
    throw new Fatal(
      `--meshConfig ${placeOf(error.origin)}: ${error.field}: ${error.reason}`,
      exitCodes.config,
    );
  return { mesh, folders, flaws, origin: 'file' };
}
