/** A fault of the world around a control plane, with its end. */
export interface Outage<W> {
  readonly name: string;
  /**
   * The text that `/ready` and the log must report meanwhile, while a metric is 0. It is `nothing`
   * if nothing is wrong for a person, and `maybe` if that depends on the answers of the registry
   * while it starts.
   */
  readonly named: RegExp | 'nothing' | 'maybe';
  /** Begins and ends the fault. Calls `over` at its end; all that follows is part of healing. */
  readonly run: (world: W, over: () => void) => Promise<void>;
}

/** The result of a fault. */
export interface OutageReport {
  readonly name: string;
  readonly requests: number;
  readonly failed: number;
  /** The text that named the fault; empty if there is none. */
  readonly named: string;
  /** The time from the end of the fault until all is read and a change is served. In s. */
  readonly seconds: number;
  /** Things that should not happen. */
  readonly violations: readonly string[];
}

export const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));
