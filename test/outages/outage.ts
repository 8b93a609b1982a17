/** A fault of the world around a control plane, and how it ends. */
export interface Outage<W> {
  readonly name: string;
  /**
   * What `/ready` and the log have to say meanwhile; `nothing` if nothing is wrong for a person;
   * `maybe` if that depends on what the registry answers while it starts.
   */
  readonly named: RegExp | 'nothing' | 'maybe';
  /**
   * Begins and ends the fault. Calls `over` at its end; what comes after that is part of healing.
   */
  readonly run: (world: W, over: () => void) => Promise<void>;
}

/** What a fault did. */
export interface OutageReport {
  readonly name: string;
  readonly requests: number;
  readonly failed: number;
  /** What was named; empty if nothing. */
  readonly named: string;
  /** From the end of the fault until all is read and a change is served. */
  readonly seconds: number;
  /** What should not be. */
  readonly violations: readonly string[];
}

export const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));
