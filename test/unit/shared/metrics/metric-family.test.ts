import { describe, expect, it } from 'vitest';
import { families } from '../../../../scripts/docs/metrics.ts';
import {
  caFamilies,
  countCa,
  noCa,
} from '../../../../src/pilot-agent/secrets/ca/authority-telemetry.ts';
import { mergeExposition } from '../../../../src/pilot-agent/status/scrape/merge-exposition.ts';
import { joinedByName, printFamilies } from '../../../../src/shared/metrics/metric-family.ts';
import { pushesByType } from '../../../../src/pilot-agent/secrets/push-families.ts';
import { countSts, noSts, stsFamilies } from '../../../../src/pilot-agent/sts/sts-telemetry.ts';
import { strictExposition } from '../../../support/strict-exposition.ts';

describe('the metrics of the agent', () => {
  it.each(['text', 'openmetrics'] as const)(
    'are well-formed as %s, and keep their names',
    async (format) => {
      const pieces: Buffer[] = [];
      const [report, pause, enlarge] = [
        () => expect.unreachable(),
        () => Promise.resolve(),
        () => Promise.resolve(),
      ];
      for await (const piece of mergeExposition({
        format,
        sources: [],
        report,
        pause,
        enlarge,
        ownFamilies: () => Promise.resolve(families()),
      }))
        pieces.push(piece);
      const rows = [...strictExposition(Buffer.concat(pieces).toString(), format).values()].flatMap(
        (family) => family.rows.map(({ name }) => name),
      );
      expect(new Set(rows)).toEqual(
        new Set(
          families().flatMap(({ name, samples }) =>
            samples.map(({ suffix = '' }) => name + suffix),
          ),
        ),
      );
    },
  );

  it('come once, though two servers have them', () => {
    const joined = joinedByName([
      pushesByType([['sds', 1]]),
      caFamilies(noCa)[0] ?? pushesByType([]),
      pushesByType([
        ['sds', 5],
        ['cds', 2],
      ]),
    ]);
    expect(printFamilies(joined).filter((line) => line.includes('pilot_xds_pushes'))).toEqual([
      '# HELP istio_agent_pilot_xds_pushes Pushes to Envoy, by type',
      '# TYPE istio_agent_pilot_xds_pushes counter',
      'istio_agent_pilot_xds_pushes{type="sds"} 1',
      'istio_agent_pilot_xds_pushes{type="cds"} 2',
    ]);
  });

  it('have how often an authority was asked, again, and in vain, and how long that took', () => {
    const counts = [
      { type: 'asked', at: 0, isRetry: false } as const,
      { type: 'request-failed', reason: 'down', failures: 1, took: 40, delay: 50 } as const,
      { type: 'asked', at: 90, isRetry: true } as const,
      { type: 'issued', took: 300, delay: 1_000 } as const,
    ].reduce(countCa, noCa);
    const rows = printFamilies(caFamilies(counts)).filter((line) => !line.startsWith('#'));
    const csr = '{request_type="csr"}';
    expect(rows.slice(0, 4)).toEqual([
      `istio_agent_num_outgoing_requests${csr} 2`,
      `istio_agent_num_outgoing_retries${csr} 1`,
      `istio_agent_num_failed_outgoing_requests${csr} 1`,
      `istio_agent_outgoing_latency${csr} 340`,
    ]);
    expect(rows).toContain(
      'istio_agent_outgoing_latency_seconds_bucket{request_type="csr",le="0.1"} 1',
    );
    expect(rows).toContain(
      'istio_agent_outgoing_latency_seconds_bucket{request_type="csr",le="0.5"} 2',
    );
    expect(rows).toContain(
      'istio_agent_outgoing_latency_seconds_bucket{request_type="csr",le="+Inf"} 2',
    );
  });

  it('have how often a token was asked for, by the answer, and how long that took', () => {
    const answers = [200, 500, 200].map(
      (status, index) => ({ type: 'answered', status, reason: '', took: 100 * index }) as const,
    );
    const rows = printFamilies(stsFamilies(answers.reduce(countSts, noSts)));
    expect(rows).toContain('istio_agent_sts_requests_total{code="200"} 2');
    expect(rows).toContain('istio_agent_sts_requests_total{code="500"} 1');
    expect(rows).toContain('istio_agent_sts_latency_seconds_bucket{le="0.1"} 2');
    expect(rows).toContain('istio_agent_sts_latency_seconds_count 3');
  });
});
