import { expect, it } from 'vitest';
import { protoDuration } from '../../../../../src/pilot-discovery/generate/encoding/proto-duration.ts';
import { ClusterSchema } from '../../../../../src/shared/proto/envoy/config/cluster/v3/cluster_pb.ts';
import { canonical, messageYaml } from '../../../../support/golden.ts';

it.each([
  [0, '0s'],
  [1, '0.001s'],
  [999, '0.999s'],
  [1_500, '1.500s'],
  [60_000, '60s'],
  [0.25, '0.000250s'],
  [86_400_000, '86400s'],
])('%f ms is %s', (ms, duration) => {
  expect(messageYaml(ClusterSchema, { connectTimeout: protoDuration(ms) })).toBe(
    canonical(`connect_timeout: ${duration}`),
  );
});
