import { emptyHistogram, type Histogram } from '../../operators/histogram.ts';
import { caLack, caNote, type CaView } from '../ca/ca-view.ts';
import type { ConnectionStates } from '../push/connection-states.ts';
import type { Environment } from '../environment/environment.ts';
import { heldRemovalCount, type Store } from '../environment/store.ts';
import type { CallerRefusals } from './caller-refusals.ts';
import type { PushTraces } from './push-trace.ts';

/** The state of a control plane that runs. */
export interface DiscoveryView {
  /** Undefined before the first event of a source. */
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
  readonly refusals: CallerRefusals;
  /** Undefined if there is no certificate authority. */
  readonly ca: CaView | undefined;
  /** `held`: this instance writes the status of resources. */
  readonly statusLease: 'held' | 'none';
  /** Whether it was asked to end. */
  readonly isEnding: boolean;
  readonly counts: DiscoveryCounts;
}

/** Counts since the start. */
export interface DiscoveryCounts {
  /** Answers by the short name of their type (`cds`), and those that were NACKed. */
  readonly pushes: Readonly<Record<string, number>>;
  readonly rejects: Readonly<Record<string, number>>;
  /** Changes by class. */
  readonly updates: Readonly<Record<string, number>>;
  readonly refusedStreams: number;
  /** Secrets that could not be served, and requests for secrets that were refused. */
  readonly secretFailures: number;
  /** Calls whose caller is not known, by the name of their status. */
  readonly refusedCallers: Readonly<Record<string, number>>;
  /** Streams that were ended, because their proxies did not read. */
  readonly unreadStreams: number;
  /** Snapshots by the class of their change. */
  readonly triggers: Readonly<Record<string, number>>;
  /** The bytes of all answers; the sizes of answers by the short name of their type. */
  readonly bytes: number;
  readonly sizes: Readonly<Record<string, Histogram>>;
  readonly times: {
    /** From the first change to the snapshot that has it. */
    readonly built: Histogram;
    /** From the first change to an answer that has it, and to its ACK. */
    readonly answered: Histogram;
    readonly accepted: Histogram;
    /** How long it takes to build a snapshot. */
    readonly building: Histogram;
    /** How long an answer waits until it is written, and how long it takes to write it. */
    readonly queued: Histogram;
    readonly written: Histogram;
  };
}

/** In seconds. istiod has the same limits for its convergence. */
const limits = [0.1, 0.25, 0.5, 1, 3, 5, 10, 20, 30];
const shortLimits = [0.01, 0.1, 0.5, 1, 3, 5, 10, 20, 30];
/** In bytes. istiod has the same limits. */
export const sizeLimits = [1, 10_000, 1_000_000, 4_000_000, 10_000_000, 40_000_000];

export const noCounts: DiscoveryCounts = {
  pushes: {},
  rejects: {},
  updates: {},
  triggers: {},
  refusedStreams: 0,
  secretFailures: 0,
  refusedCallers: {},
  unreadStreams: 0,
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

/** Returns why it is not ready; undefined if it is. Pure. */
export function unready({ store, snapshot, ca, isEnding }: DiscoveryView): string | undefined {
  if (isEnding) return 'it ends';
  if (snapshot !== undefined) return ca && caLack(ca);
  const waiting = [...(store?.sources ?? [])].filter(([, source]) => !source.isSynced);
  const names = waiting.map(([name, { lost }]) =>
    lost === undefined ? name : `${name} (${lost})`,
  );
  return `sources are not read yet: ${names.length > 0 ? names.join(', ') : 'all'}`;
}

/** Returns notes about a control plane that is ready; undefined for none. Pure. */
export function readyNote({ store, ca }: DiscoveryView): string | undefined {
  if (store === undefined) return undefined;
  const heldCount = heldRemovalCount(store);
  const notes = [...store.sources].flatMap(([name, { lost }]) =>
    lost === undefined ? [] : [`${name} cannot be read, its last content stays: ${lost}`],
  );
  if (heldCount > 0)
    notes.push(`${heldCount} removals are held back: pilot-discovery confirm lets them happen`);
  const caFlaw = ca && caNote(ca);
  if (caFlaw !== undefined) notes.push(caFlaw);
  return notes.length === 0 ? undefined : notes.join('\n');
}
