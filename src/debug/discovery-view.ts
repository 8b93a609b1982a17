import { emptyHistogram, type Histogram } from '../operators/histogram.ts';
import type { ConnectionStates } from '../push/connection-states.ts';
import type { Environment } from '../snapshot/environment.ts';
import type { Store } from '../store/store.ts';

/** What is known of a control plane that runs. */
export interface DiscoveryView {
  /** Undefined before a source has told something. */
  readonly store: Store | undefined;
  /** The newest snapshot; undefined before the first one. */
  readonly snapshot:
    { readonly number: number; readonly environment: Environment; readonly changedAt: number; readonly builtAt: number } | undefined;
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
  /** Snapshots by the class of what has changed. */
  readonly triggers: Readonly<Record<string, number>>;
  /** Bytes of all answers. */
  readonly bytes: number;
  readonly times: {
    /** From the first change to the snapshot that has it. */
    readonly built: Histogram;
    /** From the first change to an answer that has it, and until it was accepted. */
    readonly answered: Histogram;
    readonly accepted: Histogram;
  };
}

/** In seconds, as istiod has them for its convergence. */
const limits = [0.1, 0.25, 0.5, 1, 3, 5, 10, 20, 30];

export const noCounts: DiscoveryCounts = {
  pushes: {},
  rejects: {},
  updates: {},
  triggers: {},
  refusedStreams: 0,
  bytes: 0,
  times: { built: emptyHistogram(limits), answered: emptyHistogram(limits), accepted: emptyHistogram(limits) },
};

/** Why it is not ready; undefined if it is. Pure. */
export function unready({ store, snapshot }: DiscoveryView): string | undefined {
  if (snapshot !== undefined) return undefined;
  const waiting = [...(store?.sources ?? [])].filter(([, source]) => !source.isSynced);
  const names = waiting.map(([name, { lost }]) => (lost === undefined ? name : `${name} (${lost})`));
  return `sources are not read yet: ${names.length > 0 ? names.join(', ') : 'all'}`;
}
