/** The stages of a process: it starts, serves, is drained by its successor, is told to end. */
export type Stage = 'starting' | 'live' | 'draining' | 'stopping';

/**
 * How much time the parent of an Envoy has left. `running`: the end of the parent ends this Envoy
 * 10 s later. `ending`: the parent is about to be told to end, so a clean end of it is in order,
 * and any other is not. `over`: it never had a parent, or its parent has been told to end.
 */
export type ParentTime = 'running' | 'ending' | 'over';

/** An Envoy process that exists. */
export interface Epoch {
  /** Of the reading that it was started from; empty for one that was adopted. */
  readonly hash: string;
  /** What Envoy is told as `--restart-epoch`: its living parent's plus one, 0 without one. */
  readonly restartEpoch: number;
  /** The lineage that it belongs to, with a base id of its own. A rescue begins the next one. */
  readonly lineage: number;
  readonly parentTime: ParentTime;
  readonly stage: Stage;
  /**
   * False from the moment that the admin endpoint has been unresponsive for 2 s, until it answers
   * again.
   */
  readonly answering: boolean;
  /**
   * A child of it has ended while it came up, and it has not answered since. It may have handed
   * over: then its admin endpoint is closed, and it serves no one.
   */
  readonly lostChild?: boolean;
  /** Another one was LIVE before it was: it drains, and has perhaps never been. */
  readonly overtaken?: boolean;
  /** It was told to end by SIGKILL while it came up, and is not gone yet. */
  readonly killed?: boolean;
  /** It was not LIVE in time while another one serves: it is killed. */
  readonly late?: boolean;
  /**
   * A child of it that was late has closed its admin endpoint, and was killed before it took over:
   * it serves, and can be asked by connections alone that were kept. No child can follow any more.
   */
  readonly mute?: boolean;
  /** Absent until it is known to exist. */
  readonly pid?: number;
}
