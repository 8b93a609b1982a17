import { emptyHistogram, type Histogram } from '../../operators/histogram.ts';
import type { ConnectionStates } from '../push/connection-states.ts';
import type { Environment } from '../environment/environment.ts';
import { heldRemovals, type Store } from '../environment/store.ts';
import type { PushTraces } from './push-trace.ts';

/** What is known of a control plane that runs. */
export interface DiscoveryView {
  /** Undefined before a source has told something. */
  readonly store: Store | undefined;
  /** The newest snapshot; undefined before the first one. */
  readonly snapshot:
    | {
        readonly number: number;
        readonly environment: Environment;
        readonly changedAt: number;
        readonly builtAt: number;
      }
    | undefined;
  readonly connections: ConnectionStates;
  readonly traces: PushTraces;
  /** Somebody has asked for the end. */
  readonly isEnding: boolean;
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
  /** Bytes of all answers, and of each, by the short name of its type. */
  readonly bytes: number;
  readonly sizes: Readonly<Record<string, Histogram>>;
  readonly times: {
    /** From the first change to the snapshot that has it. */
    readonly built: Histogram;
    /** From the first change to an answer that has it, and until it was accepted. */
    readonly answered: Histogram;
    readonly accepted: Histogram;
    /** What the building of a snapshot has taken. */
    readonly building: Histogram;
    /**
     * How long an answer waits until it is its turn to be written, and how long the writing takes.
     */
    readonly queued: Histogram;
    readonly written: Histogram;
  };
}

/** In seconds, as istiod has them for its convergence. */
const limits = [0.1, 0.25, 0.5, 1, 3, 5, 10, 20, 30];
const shortLimits = [0.01, 0.1, 0.5, 1, 3, 5, 10, 20, 30];
/** In bytes, as istiod has them. */
export const sizeLimits = [1, 10_000, 1_000_000, 4_000_000, 10_000_000, 40_000_000];

export const noCounts: DiscoveryCounts = {
  pushes: {},
  rejects: {},
  updates: {},
  triggers: {},
  refusedStreams: 0,
  bytes: 0,
  sizes: {},
  times: {
    built: emptyHistogram(limits),
    answered: emptyHistogram(limits),
    accepted: emptyHistogram(limits),
    building: emptyHistogram(shortLimits),
    queued: emptyHistogram(limits),
    written: emptyHistogram(shortLimits),
  },
};

/** Why it is not ready; undefined if it is. Pure. */
export function unready({ store, snapshot, isEnding }: DiscoveryView): string | undefined {
  if (isEnding) return 'it ends';
  if (snapshot !== undefined) return undefined;
  const waiting = [...(store?.sources ?? [])].filter(([, source]) => !source.isSynced);
  const names = waiting.map(([name, { lost }]) =>
    lost === undefined ? name : `${name} (${lost})`,
  );
  return `sources are not read yet: ${names.length > 0 ? names.join(', ') : 'all'}`;
}

/** What there is to know of one that is ready; undefined for nothing. Pure. */
export function readyNote({ store }: DiscoveryView): string | undefined {
  const held = store === undefined ? 0 : heldRemovals(store);
  return held === 0
    ? undefined
    : `${held} removals are held back: pilot-discovery confirm lets them happen`;
}
