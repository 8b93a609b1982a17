import { expect, it } from 'vitest';
import { firstSummary } from '../../../../src/pilot-agent/xds-proxy/relay-telemetry.ts';

it('nothing is missing as long as no Envoy has asked for anything: a hot restart does not wait for it', () => {
  expect(firstSummary('istiod:15012')).toMatchObject({ canServeEnvoy: true, isAnswering: false });
});
