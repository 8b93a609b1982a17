import type { Observable } from 'rxjs';
import type { Reading } from '../streams/reading.ts';

/** What a source lays over Envoy's configuration. */
export interface Overlay {
  /** The name of the source. */
  readonly source: string;
  /** The field that it is laid over, as `static_resources.clusters`; '' for the whole. */
  readonly at: string;
  /** YAML or JSON. */
  readonly text: string;
}

/** What is done to a configuration before an Envoy is started from it. */
export interface Additions {
  /** Laid over it before the override, in their order. */
  readonly overlays?: readonly Overlay[];
  /** It gets an admin layer of runtime values where it has none. */
  readonly withAdminLayer?: true;
  /** Where the override comes from, for a person. */
  readonly overridePath?: string;
}

/**
 * What an Envoy is started from: a file of the user's, a generated bootstrap, or nothing that could
 * work.
 */
export type EpochConfig =
  | (Additions & { readonly kind: 'given'; readonly path: string; readonly override: string })
  | (Additions & {
      readonly kind: 'generated';
      readonly text: string;
      /** Where the text comes from, for a person; undefined where the agent has made it. */
      readonly origin?: string;
      /** The path of the template that it is made of. */
      readonly template?: string;
      /** Envoy chooses its parser by it. */
      readonly extension: '.json' | '.yaml';
      /** YAML that Envoy lays over the bootstrap (`--config-yaml`); '' for none. */
      readonly override: string;
    })
  | { readonly kind: 'refused'; readonly reason: string };

/** How an Envoy process ended. `unknown`: it is gone, and nobody was left to see how. */
export type Exit =
  | { readonly kind: 'clean' }
  | {
      readonly kind: 'failed';
      readonly code: number;
      /** The last lines that it wrote. */
      readonly tail: readonly string[];
      /** The address that it says it could not bind. */
      readonly addressTaken?: string;
      /** The address that it says its user may not bind. */
      readonly addressDenied?: string;
    }
  | {
      readonly kind: 'signaled';
      readonly signal: NodeJS.Signals;
      readonly tail: readonly string[];
      /** Whether the kernel has killed for want of memory, where it says so. */
      readonly outOfMemory?: boolean;
    }
  | { readonly kind: 'spawn-failed'; readonly reason: string }
  | { readonly kind: 'unknown'; readonly tail: readonly string[] };

/** What names a process: the number of its epoch, and its place in its lineage. */
interface Place {
  readonly epoch: number;
  /** What Envoy is told as `--restart-epoch`. */
  readonly restartEpoch: number;
  readonly lineage: number;
}

/** A process to start, or one that an earlier agent has left and that is adopted. */
export type Launch =
  | (Place & {
      readonly adopted: false;
      readonly reading: Reading<EpochConfig>;
      /**
       * Another lineage has the admin endpoint of the configuration: this process needs one of its
       * own.
       */
      readonly sideBySide: boolean;
    })
  | (Place & { readonly adopted: true });

/** A process that an earlier agent has left, so that the next agent goes on with it. */
export interface AdoptedEpoch extends Place {
  readonly pid: number;
}

/** What a process has to tell: at most once that it exists, and once how it ended. */
export type ProcessEvent =
  | { readonly type: 'spawned'; readonly pid: number }
  | { readonly type: 'exited'; readonly exit: Exit };

/** What is sent to a process: to end, to be ended, to open its log files anew. */
export type Signal = 'SIGTERM' | 'SIGKILL' | 'SIGUSR1';

/**
 * What the admin endpoint says of an epoch: LIVE; up, but not LIVE or not this epoch yet; no
 * answer; or that there is no address to ask.
 */
export type Health = 'live' | 'up' | 'unresponsive' | 'unknown';

/** Why a configuration cannot work. */
export interface Refusal {
  /** On one line. */
  readonly reason: string;
  /** The line of the text that is to blame, and a caret under it. */
  readonly excerpt?: string;
}

/**
 * How a configuration works. `works-alone`: not as the child of what runs. `no-room`: not while
 * another Envoy runs, and why.
 */
export type Acceptance =
  | { readonly kind: 'works' }
  | { readonly kind: 'works-alone' }
  | { readonly kind: 'no-room'; readonly reason: string };

/**
 * What the check says of a configuration. `unchecked`: the check itself was killed, took too long
 * or could not be started, which says nothing of the configuration.
 */
export type Verdict =
  | Acceptance
  | ({ readonly kind: 'refused' } & Refusal)
  | { readonly kind: 'unchecked'; readonly reason: string; readonly outOfMemory: boolean };

/**
 * How an Envoy drains. `graceful`: it keeps serving and asks clients to go elsewhere. `close`: its
 * listeners close.
 */
export type Drain = 'graceful' | 'close';

/** The one proxy whose life the agent owns, in as many processes as there are epochs. */
export interface Proxy {
  /**
   * Starts a process on subscribe, emits what becomes of it, and completes after its exit. Never
   * errors. What cannot run beside another lineage is not started, which is an exit too.
   *
   * Each value of `signals$` is sent to the process, whose end is still emitted. Unsubscribing
   * kills it too, unreported: that is the net below a crashing agent, not the way to stop an epoch.
   * A proxy that outlives its agent on purpose is let go instead.
   */
  run(launch: Launch, signals$: Observable<Signal>): Observable<ProcessEvent>;
  /**
   * Asks once how an epoch is; one without a process is unknown. Emits one value within a second
   * and completes. Never errors.
   */
  health(epoch: number): Observable<Health>;
  /**
   * Makes the admin endpoint of an epoch the one that others find, if it is the newest: where two
   * lineages run side by side each has its own. Completes at once. Never errors.
   */
  publishAdmin(epoch: number): Observable<never>;
  /**
   * Tries a reading, and the files that it names as they are now, without touching a running
   * process. Emits one verdict and completes. Never errors.
   */
  check(reading: Reading<EpochConfig>): Observable<Verdict>;
  /**
   * Does ahead what takes long of a check that is likely to follow, and tells nothing: the next
   * check of the same hash is the faster for it. Completes. Never errors.
   */
  checkAhead?(reading: Reading<EpochConfig>): Observable<never>;
  /**
   * Asks the Envoys of an epoch's lineage to drain. Completes when its questions are answered, or
   * have had a second each. Never errors.
   */
  drain(epoch: number, how: Drain): Observable<never>;
  /**
   * Counts once what is in flight in an epoch's lineage; undefined where that is not known. Emits
   * one value within a second and completes. Never errors.
   */
  active(epoch: number): Observable<number | undefined>;
}
