/**
 * The stages of a process: it starts, serves, drains after its successor took over, was asked to
 * end.
 */
export type Stage = 'starting' | 'live' | 'draining' | 'stopping';

/**
 * How much time the parent of an Envoy has left. `running`: if the parent ends, this Envoy ends 10
 * s later. `ending`: this Envoy is about to ask its parent to end, so a clean end of the parent is
 * expected, and any other is not. `over`: it never had a parent, or has asked its parent to end.
 */
export type ParentTime = 'running' | 'ending' | 'over';

/** An Envoy process that exists. */
export interface Epoch {
  /** The hash of the reading that it was started from; empty if it was adopted. */
  readonly hash: string;
  /**
   * The value of `--restart-epoch`: the restart epoch of its living parent plus one, 0 without a
   * parent.
   */
  readonly restartEpoch: number;
  /** Its lineage, which has its own base id. A rescue begins the next lineage. */
  readonly lineage: number;
  readonly parentTime: ParentTime;
  readonly stage: Stage;
  /** False once the admin endpoint has been unresponsive for 2 s, until it answers again. */
  readonly answering: boolean;
  /**
   * A child of this epoch ended while coming up, and this epoch has not answered since. This epoch
   * may have handed over: then its admin endpoint is closed, and it serves no one.
   */
  readonly lostChild?: boolean;
  /** A later epoch was LIVE first: this one drains, and may never have been LIVE. */
  readonly overtaken?: boolean;
  /** It got SIGKILL while it came up, and is not gone yet. */
  readonly killed?: boolean;
  /** It was not LIVE in time while another epoch serves: the agent kills it. */
  readonly late?: boolean;
  /**
   * A late child closed the admin endpoint of this epoch, and was killed before it took over. The
   * epoch serves, but its admin endpoint answers only on connections that are already open. It can
   * no longer have a child.
   */
  readonly mute?: boolean;
  /** Absent until it is known to exist. */
  readonly pid?: number;
}
