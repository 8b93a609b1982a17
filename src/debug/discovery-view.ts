import type { ConnectionStates } from '../push/connection-states.ts';
import type { Environment } from '../snapshot/environment.ts';
import type { Store } from '../store/store.ts';

/** What is known of a control plane that runs. */
export interface DiscoveryView {
  /** Undefined before a source has told something. */
  readonly store: Store | undefined;
  /** The newest snapshot; undefined before the first one. */
  readonly snapshot: { readonly number: number; readonly environment: Environment; readonly builtAt: number } | undefined;
  readonly connections: ConnectionStates;
  readonly counts: DiscoveryCounts;
}

/** What has happened since the start. */
export interface DiscoveryCounts {
  /** Answers by the short name of their type (`cds`), and those that were rejected. */
  readonly pushes: Readonly<Record<string, number>>;
  readonly rejects: Readonly<Record<string, number>>;
  /** Changes by class. */
  readonly updates: Readonly<Record<string, number>>;
  readonly refusedStreams: number;
  /** Bytes of all answers. */
  readonly bytes: number;
}

export const noCounts: DiscoveryCounts = { pushes: {}, rejects: {}, updates: {}, refusedStreams: 0, bytes: 0 };

/** Why it is not ready; undefined if it is. Pure. */
export function unready({ store, snapshot }: DiscoveryView): string | undefined {
  if (snapshot !== undefined) return undefined;
  const waiting = [...(store?.sources ?? [])].filter(([, source]) => !source.isSynced);
  const names = waiting.map(([name, { lost }]) => (lost === undefined ? name : `${name} (${lost})`));
  return `sources are not read yet: ${names.length > 0 ? names.join(', ') : 'all'}`;
}
