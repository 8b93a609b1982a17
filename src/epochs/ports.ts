import type { Observable } from 'rxjs';
import type { Reading } from '../streams/reading.ts';

/** A piece of configuration that a source merges over Envoy's. */
export interface Overlay {
  readonly source: string;
  /**
   * The field that it is merged over, such as `static_resources.clusters`; '' for the whole
   * configuration.
   */
  readonly at: string;
  /** YAML or JSON. */
  readonly text: string;
}

/** Changes to a configuration before an Envoy is started from it. */
export interface Additions {
  /** Merged over it before the override, in this order. */
  readonly overlays?: readonly Overlay[];
  /** Adds an admin layer of runtime values if the configuration has none. */
  readonly withAdminLayer?: true;
  /** The origin of the override, for a person. */
  readonly overridePath?: string;
}

/**
 * The configuration from which an Envoy is started: a file of the user's, a generated bootstrap, or
 * a refusal because nothing could work.
 */
export type EpochConfig =
  | (Additions & { readonly kind: 'given'; readonly path: string; readonly override: string })
  | (Additions & {
      readonly kind: 'generated';
      readonly text: string;
      /** The origin of the text, for a person; undefined if the agent generated it. */
      readonly origin?: string;
      /** The path of the template from which the text was generated. */
      readonly template?: string;
      /** Envoy chooses its parser by this extension. */
      readonly extension: '.json' | '.yaml';
      /** YAML that Envoy merges over the bootstrap (`--config-yaml`); '' for none. */
      readonly override: string;
    })
  | { readonly kind: 'refused'; readonly reason: string };

/** How an Envoy process ended. `unknown`: it is gone, and the agent did not see how. */
export type Exit =
  | { readonly kind: 'clean' }
  | {
      readonly kind: 'failed';
      readonly code: number;
      /** The last lines that Envoy wrote. */
      readonly tail: readonly string[];
      /** The address that Envoy could not bind, according to its log. */
      readonly addressTaken?: string;
      /** The address that Envoy's user may not bind, according to Envoy's log. */
      readonly addressDenied?: string;
    }
  | {
      readonly kind: 'signaled';
      readonly signal: NodeJS.Signals;
      readonly tail: readonly string[];
      /** Whether the kernel killed it because memory ran out; absent if the kernel does not say. */
      readonly outOfMemory?: boolean;
    }
  | { readonly kind: 'spawn-failed'; readonly reason: string }
  | { readonly kind: 'unknown'; readonly tail: readonly string[] };

/** The identity of a process: the number of its epoch, and its place in its lineage. */
interface Place {
  readonly epoch: number;
  /** The value of `--restart-epoch`. */
  readonly restartEpoch: number;
  readonly lineage: number;
}

/** A process to start, or a process that an earlier agent left and this one adopts. */
export type Launch =
  | (Place & {
      readonly adopted: false;
      readonly reading: Reading<EpochConfig>;
      /**
       * Another lineage has the admin endpoint of the configuration, so this process needs a
       * separate one.
       */
      readonly sideBySide: boolean;
    })
  | (Place & { readonly adopted: true });

/** A process that an earlier agent left and that the next agent takes over. */
export interface AdoptedEpoch extends Place {
  readonly pid: number;
}

/** An event of a process: `spawned` if it comes to exist, and `exited` when it has ended. */
export type ProcessEvent =
  | { readonly type: 'spawned'; readonly pid: number }
  | { readonly type: 'exited'; readonly exit: Exit };

/** A signal to a process: asks it to end, kills it, or makes it open its log files again. */
export type Signal = 'SIGTERM' | 'SIGKILL' | 'SIGUSR1';

/**
 * The answer of an epoch's admin endpoint. `up`: it answers, but is not LIVE, or does not answer
 * for this epoch yet. `unresponsive`: it does not answer. `unknown`: it has no known address.
 */
export type Health = 'live' | 'up' | 'unresponsive' | 'unknown';

/** Why a configuration cannot work. */
export interface Refusal {
  readonly reason: string;
  /** The faulty line of the text, with a caret under it. */
  readonly excerpt?: string;
}

/**
 * How a configuration works. `works-alone`: it works, but not as the child of the running Envoy.
 * `no-room`: it works, but not while another Envoy runs; `reason` says why.
 */
export type Acceptance =
  | { readonly kind: 'works' }
  | { readonly kind: 'works-alone' }
  | { readonly kind: 'no-room'; readonly reason: string };

/**
 * The result of the check of a configuration. `unchecked`: the check itself was killed, took too
 * long or could not be started, so its result says nothing about the configuration.
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

/** The proxy that the agent runs, with one process for each epoch. */
export interface Proxy {
  /**
   * Starts a process on subscribe, emits its events, and completes after its exit. Never errors. If
   * it may not run beside another lineage it is not started, which is emitted as an exit too.
   *
   * Sends each value of `signals$` to the process, and still emits its end. Unsubscribing also
   * kills it, without an event: this protects against a crashing agent, and is not the way to stop
   * an epoch. A proxy that outlives its agent on purpose is left running instead.
   */
  run(launch: Launch, signals$: Observable<Signal>): Observable<ProcessEvent>;
  /**
   * Asks once for the health of an epoch; without a process it is unknown. Emits one value within a
   * second and completes. Never errors.
   */
  health(epoch: number): Observable<Health>;
  /**
   * Publishes the admin endpoint of an epoch for other programs, if the epoch is the newest. If two
   * lineages run side by side, each has its own endpoint. Completes at once. Never errors.
   */
  publishAdmin(epoch: number): Observable<never>;
  /**
   * Checks a reading, and the files that it names as they are now, without touching a running
   * process. Emits one verdict and completes. Never errors.
   */
  check(reading: Reading<EpochConfig>): Observable<Verdict>;
  /**
   * Does the slow part of a likely check in advance, and emits nothing: the next check of the same
   * hash is faster. Completes. Never errors.
   */
  checkAhead?(reading: Reading<EpochConfig>): Observable<never>;
  /**
   * Asks the Envoys of an epoch's lineage to drain. Completes when each question was answered or
   * has waited a second. Never errors.
   */
  drain(epoch: number, how: Drain): Observable<never>;
  /**
   * Counts once the work in flight in an epoch's lineage; undefined if it is unknown. Emits one
   * value within a second and completes. Never errors.
   */
  active(epoch: number): Observable<number | undefined>;
}
