/** Why a source gives no metrics, or no more of them: a value of the label `reason`. */
export type FaultReason = 'unreachable' | 'timeout' | 'status' | 'format' | 'encoding' | 'too_large' | 'cut_off';

/** Ends the reading of a source. */
export class ScrapeFault extends Error {
  readonly reason: FaultReason;

  constructor(reason: FaultReason) {
    super(reason);
    this.reason = reason;
  }
}
