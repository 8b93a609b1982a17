import type { SdsEvent } from './sds-event.ts';

/** How often what has happened on the streams of the secret discovery server, and how many there are. */
export interface SdsCounts {
  readonly streams: number;
  readonly pushes: number;
  readonly accepted: number;
  readonly rejected: number;
}

export const noSds: SdsCounts = { streams: 0, pushes: 0, accepted: 0, rejected: 0 };

/** Counts one event. Pure. */
export function countSds(counts: SdsCounts, event: SdsEvent): SdsCounts {
  switch (event.type) {
    case 'stream-opened':
      return { ...counts, streams: counts.streams + 1 };
    case 'stream-closed':
      return { ...counts, streams: counts.streams - 1 };
    case 'pushed':
      return { ...counts, pushes: counts.pushes + 1 };
    case 'accepted':
      return { ...counts, accepted: counts.accepted + 1 };
    case 'rejected':
      return { ...counts, rejected: counts.rejected + 1 };
    case 'listening':
    case 'failed':
    case 'stream-refused':
    case 'missing':
      return counts;
  }
}
