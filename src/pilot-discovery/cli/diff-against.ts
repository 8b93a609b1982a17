import { exitCodes, Fatal } from '../../shared/program/exit.ts';
import { shownAtMost } from '../diff/bounded-diff.ts';
import {
  groupedByVersions,
  type MeshDiff,
  type ProxyGroup,
  type RunningGroup,
  typeChange,
} from '../diff/mesh-diff.ts';
import { type MeshSettings, meshOf } from '../diff/mesh-pair.ts';
import { readDump, readKeys, readNetworks, readProxies } from '../diff/running-mesh.ts';
import type { ViewBefore } from '../diff/view-before.ts';
import { jsonWithMaps } from '../../shared/text/json-with-maps.ts';
import { askRunning } from './ask-running.ts';

/**
 * A store without the keys of issuers and without networks: the running control plane provides
 * both.
 */
export type FolderStore = Omit<Parameters<typeof meshOf>[0], 'fetchedKeys' | 'networks'>;

export interface RunningDiff {
  readonly diff: MeshDiff<ViewBefore>;
  /** Warnings about parts of the store that are left out. */
  readonly warnings: ReturnType<typeof meshOf>['warnings'];
  /** Why changes may have another cause than the folder; undefined if they cannot. */
  readonly note: string | undefined;
}

/**
 * Compares what the proxies of a running control plane have now with what they would have with a
 * store. Rejects with a {@link Fatal}: 64 if the address is wrong, 69 if nobody answers there, if
 * the answers do not come from this version of the program, or if no proxy is connected.
 */
export async function diffAgainst(
  address: string,
  store: FolderStore,
  settings: MeshSettings,
): Promise<RunningDiff> {
  const read = async <T>(path: string, reader: (body: string) => T | undefined): Promise<T> => {
    const { status, body } = await askRunning({ flag: '--against', address }, 'GET', path);
    const value = status === 200 ? reader(body) : undefined;
    if (value !== undefined) return value;
    throw new Fatal(
      `--against ${address}: the answer to ${path} (status ${status}) is not that of a pilot-discovery of this version`,
      exitCodes.unavailable,
    );
  };
  const running = await read('/debug/proxyz', readProxies);
  if (running.length === 0)
    throw new Fatal(
      `--against ${address}: no proxy is connected, so there is nothing to compare`,
      exitCodes.unavailable,
    );
  const fetchedKeys = await read('/debug/keyz', readKeys);
  const networks = await read('/debug/networkz', readNetworks);
  const mesh = await read('/debug/mesh', (body) => body.trim());
  const environment = meshOf({ ...store, fetchedKeys, networks }, settings);
  const groups = groupedByVersions(environment, running);
  const changed: ProxyGroup<ViewBefore>[] = [];
  for (const group of groups) {
    const { proxies } = group;
    // Only the groups that are shown are fetched; the others are counted.
    if (changed.length >= shownAtMost.groups) changed.push({ proxies, changes: [] });
    else {
      const id = encodeURIComponent(proxies[0]?.node.id ?? '');
      const changes = changesOf(group, await read(`/debug/config_dump?proxyID=${id}`, readDump));
      if (changes.length > 0) changed.push({ proxies, changes });
    }
  }
  return {
    diff: { compared: running.length, groups: changed },
    warnings: environment.warnings,
    note:
      mesh === jsonWithMaps(store.mesh)
        ? undefined
        : `the MeshConfig of ${address} differs: name the same file by --meshConfig, unless it is part of the change`,
  };
}

const changesOf = (
  { types, after }: RunningGroup,
  before: NonNullable<ReturnType<typeof readDump>>,
): ProxyGroup<ViewBefore>['changes'] =>
  types.flatMap((type) => typeChange(type, before[type], after[type]));
