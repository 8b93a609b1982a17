import { line, type LogLine } from '../../shared/log/log-line.ts';
import { histogram, type MetricFamily } from '../../shared/metrics/metric-family.ts';
import { emptyHistogram, type Histogram, observed } from '../../operators/histogram.ts';
import type { StsEvent } from './sts-server.ts';

/** The responses of the token server to requests for a token. */
export interface StsCounts {
  /** By HTTP status: 200, 400 or 500. */
  readonly answers: ReadonlyMap<number, number>;
  readonly latency: Histogram;
}

export const noSts: StsCounts = {
  answers: new Map([[200, 0]]),
  latency: emptyHistogram([0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]),
};

/** Counts one event. Pure. */
export function countSts(counts: StsCounts, event: StsEvent): StsCounts {
  if (event.type !== 'answered') return counts;
  const { answers, latency } = counts;
  return {
    answers: new Map(answers).set(event.status, (answers.get(event.status) ?? 0) + 1),
    latency: observed(latency, event.took),
  };
}

/** Returns the counts as metrics. Pure. */
export function stsFamilies({ answers, latency }: StsCounts): readonly MetricFamily[] {
  return [
    {
      name: 'istio_agent_sts_requests_total',
      type: 'counter',
      help: 'Requests for a token, by the code of the answer',
      samples: [...answers].map(([code, value]) => ({ labels: { code: String(code) }, value })),
    },
    histogram('sts_latency_seconds', 'Duration of a request for a token', latency),
  ];
}

/** Returns the log line of an event of the token server that listens on `port`. Pure. */
export function narrateSts(event: Exclude<StsEvent, { type: 'failed' }>, port: number): LogLine {
  switch (event.type) {
    case 'listening':
      return line('sts.listening', { port });
    case 'not-taken':
      return line('connection.not_taken', { server: `port ${port}`, reason: event.reason });
    case 'answered': {
      const { status, reason } = event;
      return status === 200
        ? line('sts.token_given')
        : line('sts.token_refused', { status, reason });
    }
  }
}
