import { exitCodes, Fatal } from '../../shared/program/exit.ts';
import { defaultMeshConfig } from '../istio/mesh/mesh-config.ts';
import { noNetworks } from '../istio/mesh/mesh-networks.ts';
import type { Flaw } from '../istio/documents/model.ts';
import { placeOf } from '../istio/documents/place-of.ts';
import { readMeshConfig, type ReadMesh } from '../istio/mesh/read-mesh-config.ts';
import { readMeshNetworks, type ReadNetworks } from '../istio/mesh/read-mesh-networks.ts';
import { readSettingFile } from '../registry/files/setting-file.ts';

/** Settings at the start, without an error, and whether they are from a file. */
type Named<T> = T & { readonly origin: 'file' | 'none' };

export type NamedMesh = Named<ReadMesh>;
export type NamedNetworks = Named<ReadNetworks>;

/**
 * Returns the MeshConfig of the file that `--meshConfig` names; the defaults if it names none.
 * Throws a {@link Fatal} (78) if the file is missing, cannot be read or is wrong.
 *
 * @param standard the file if none is named, which may be missing; '' for none
 */
export const namedMesh = (path: string | undefined, standard = ''): NamedMesh =>
  named<ReadMesh>(
    { flag: '--meshConfig', what: 'the MeshConfig', path, standard, read: readMeshConfig },
    { mesh: defaultMeshConfig, folders: [], servers: [], flaws: [] },
  );

/** Does the same for MeshNetworks and `--networksConfig`. */
export const namedNetworks = (path: string | undefined, standard: string): NamedNetworks =>
  named<ReadNetworks>(
    { flag: '--networksConfig', what: 'the MeshNetworks', path, standard, read: readMeshNetworks },
    { networks: noNetworks, flaws: [] },
  );

interface NamedFile<T> {
  readonly flag: string;
  readonly what: string;
  readonly path: string | undefined;
  readonly standard: string;
  readonly read: (text: string, path: string) => T & { readonly flaws: readonly Flaw[] };
}

function named<T>({ flag, what, path, standard, read }: NamedFile<T>, defaults: T): Named<T> {
  const place = path ?? standard;
  const none: Named<T> = { ...defaults, origin: 'none' };
  if (place === '') return none;
  const file = readSettingFile(place, read);
  if (file.kind === 'absent' && path === undefined) return none;
  if (file.kind === 'absent')
    throw new Fatal(
      `${flag} ${place}: it does not exist: name the file with ${what}, or leave the flag out for the defaults`,
      exitCodes.config,
    );
  if (file.kind === 'unreadable')
    throw new Fatal(`${flag} ${place}: it cannot be read: ${file.reason}`, exitCodes.config);
  const { content, error } = file;
  if (error !== undefined)
    throw new Fatal(
      `${flag} ${placeOf(error.origin)}: ${error.field}: ${error.reason}`,
      exitCodes.config,
    );
  return { ...content, origin: 'file' };
}
