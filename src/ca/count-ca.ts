import type { CaEvent } from './ca-event.ts';

/** Requests to the authority so far, and how long they took in all, in ms. */
export interface CaCounts {
  readonly requests: number;
  readonly failures: number;
  readonly took: number;
}

export const noCa: CaCounts = { requests: 0, failures: 0, took: 0 };

/** Counts one event. Pure. */
export function countCa({ requests, failures, took }: CaCounts, event: CaEvent): CaCounts {
  return { requests: requests + 1, failures: failures + Number(event.type === 'request-failed'), took: took + event.took };
}
