import { line, type LogLine } from '../../../shared/log/log-line.ts';
import { counter, type MetricFamily } from '../../../shared/metrics/metric-family.ts';
import { pushesByType, rejectsByType } from '../push-families.ts';

/** An event of the secret discovery server; `stream` is the number of a stream. */
export type SdsEvent =
  | { readonly type: 'listening' }
  | { readonly type: 'failed'; readonly reason: string }
  | { readonly type: 'not-taken'; readonly reason: string }
  | { readonly type: 'stream-opened'; readonly stream: number }
  | { readonly type: 'stream-closed'; readonly stream: number }
  | { readonly type: 'stream-refused'; readonly stream: number; readonly reason: string }
  /** A bug or a fault ended the stream, or the answer of a fetch. Other streams go on. */
  | { readonly type: 'stream-failed'; readonly error: unknown }
  /** The versions that were sent or ACKed, by name. */
  | {
      readonly type: 'pushed' | 'accepted';
      readonly stream: number;
      readonly node: string;
      readonly versions: ReadonlyMap<string, string>;
    }
  | {
      readonly type: 'rejected';
      readonly stream: number;
      readonly node: string;
      readonly versions: ReadonlyMap<string, string>;
      readonly reason: string;
    }
  /** A client requests a secret that is not there yet, or never will be. */
  | {
      readonly type: 'missing';
      readonly stream: number;
      readonly node: string;
      readonly name: string;
      readonly reason: string;
    };

/** The number of streams of the secret discovery server, and of each kind of event on them. */
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
      return { ...counts, streams: 0 }; // the streams of a failed server ended with it
    case 'failed':
    case 'not-taken':
    case 'stream-refused':
    case 'stream-failed':
    case 'missing':
      return counts;
  }
}

/** Returns the counts as metrics, with the names that the Go agent uses, if any. Pure. */
export function sdsFamilies({
  streams,
  pushes,
  accepted,
  rejected,
}: SdsCounts): readonly MetricFamily[] {
  return [
    {
      name: 'istio_agent_total_active_connections',
      type: 'gauge',
      help: 'Streams on which Envoy receives secrets',
      samples: [{ value: streams }],
    },
    pushesByType([['sds', pushes]]),
    rejectsByType([['sds', rejected]]),
    counter('pushes_accepted', 'Pushes of secrets that Envoy ACKed', accepted),
  ];
}

/**
 * Returns the lines of the log for an event of the secret discovery server. Pure.
 *
 * @param isServed whether Envoy has a secret under this name
 */
export function narrateSds(
  event: SdsEvent,
  isServed: (name: string) => boolean,
): readonly LogLine[] {
  switch (event.type) {
    case 'listening':
      return [line('sds.listening')];
    case 'failed':
      return []; // it ends the agent, which logs the reason
    case 'not-taken':
      return [line('connection.not_taken', { server: 'sds', reason: event.reason })];
    case 'stream-opened':
    case 'stream-closed':
    case 'stream-failed': // logged as the failure of a part
      return [];
    case 'stream-refused':
      return [line('sds.stream_refused', { stream: event.stream, reason: event.reason })];
    case 'pushed':
      return secrets(event, 'secret.pushed');
    case 'accepted':
      return secrets(event, 'secret.accepted');
    case 'rejected':
      return [...event.versions].map(([secret, version]) =>
        line(
          'secret.rejected',
          { reason: event.reason, secret, version, stream: event.stream },
          isServed(secret) ? 'old' : 'none',
        ),
      );
    case 'missing':
      return [
        line('secret.missing', { secret: event.name, stream: event.stream, reason: event.reason }),
      ];
  }
}

function secrets(
  { stream, versions }: Extract<SdsEvent, { type: 'pushed' | 'accepted' }>,
  code: 'secret.pushed' | 'secret.accepted',
): readonly LogLine[] {
  return [...versions].map(([secret, version]) => line(code, { secret, version, stream }));
}
