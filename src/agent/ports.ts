import type { Observable } from 'rxjs';

export interface Launch {
  readonly epoch: number;
  readonly hash: string;
  readonly restartEpoch: number;
  /** Its row of hot restarts. */
  readonly lineage: number;
  /** Another line has the admin endpoint of the configuration: it needs one of its own. */
  readonly sideBySide: boolean;
  /** It runs already: an agent that is gone has left it. */
  readonly adopted?: true;
}

/** A process that an agent has left behind when it ended, so that the next one goes on with it. */
export interface AdoptedEpoch {
  readonly epoch: number;
  readonly restartEpoch: number;
  readonly lineage: number;
  readonly pid: number;
}

/** What a process has to tell: at most once that it exists, and once how it ended. */
export type ProcessEvent = { readonly type: 'spawned'; readonly pid: number } | { readonly type: 'exited'; readonly exit: Exit };

/** What is sent to a process: to end, to be ended, to open its log files anew. */
export type Signal = 'SIGTERM' | 'SIGKILL' | 'SIGUSR1';

/** What the admin endpoint says of an epoch: LIVE; up, but not LIVE or not this epoch yet; nothing; or that there is none to ask. */
export type Health = 'live' | 'up' | 'unresponsive' | 'unknown';

/**
 * What a look at the configuration says of it. `apart`: it would work, but not as the child of what runs. `crowded`: not beside it either, and why.
 */
export type Verdict =
  { readonly ok: true; readonly standalone?: true; readonly noRoom?: string } | { readonly ok: false; readonly reason: string };

/** The one proxy whose life the agent owns, in as many processes as there are epochs. */
export interface Proxy {
  /**
   * Starts a process on subscribe, emits what becomes of it, and completes after its exit. Never errors. What can not run beside another line is
   * not started, which is an exit too.
   *
   * Each value of `signals$` is sent to the process, whose end is still emitted. Unsubscribing kills it too, unreported: that is the net
   * below a crashing agent, not the way to stop an epoch. A proxy that outlives its agent on purpose is let go instead.
   */
  run(launch: Launch, signals$: Observable<Signal>): Observable<ProcessEvent>;
  /** Asks once how an epoch is. Emits one value within a second and completes. Never errors. */
  health(epoch: number): Observable<Health>;
  /** Tries what is on disk now without touching a running process. Emits one verdict and completes. Never errors. */
  check(): Observable<Verdict>;
  /**
   * Asks an epoch's line to drain: `graceful` keeps serving and says goodbye, otherwise listeners close. Completes when its questions are answered, or have
   * had a second each. Never errors.
   */
  drain(epoch: number, graceful: boolean): Observable<never>;
  /** Counts once what is in flight in an epoch's line; undefined where that can not be known. Emits one value within a second and completes. Never errors. */
  active(epoch: number): Observable<number | undefined>;
}

/** How an Envoy process ended. `tail` holds the last lines that it wrote; `addressTaken` is what it says it could not bind;
 * `outOfMemory` whether the kernel has killed for want of memory, where it says so. `unknown`: it is gone, and nobody was left to see how. */
export type Exit =
  | { readonly kind: 'clean' }
  | { readonly kind: 'failed'; readonly code: number; readonly tail: readonly string[]; readonly addressTaken?: string }
  | { readonly kind: 'signaled'; readonly signal: NodeJS.Signals; readonly tail: readonly string[]; readonly outOfMemory?: boolean }
  | { readonly kind: 'spawn-failed'; readonly reason: string }
  | { readonly kind: 'unknown'; readonly tail: readonly string[] };
