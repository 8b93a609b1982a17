import { describe, expect, it } from 'vitest';
import {
  balancing,
  isPassthrough,
} from '../../../../../src/pilot-discovery/generate/endpoints/load-balancing.ts';
import { policyFor } from '../../../../../src/pilot-discovery/generate/scope/traffic-policy.ts';
import { ClusterSchema } from '../../../../../src/shared/proto/envoy/config/cluster/v3/cluster_pb.ts';
import type { TrafficDistribution } from '../../../../../src/pilot-discovery/istio/hosts/traffic-distribution.ts';
import {
  defaultMeshConfig,
  type MeshConfig,
} from '../../../../../src/pilot-discovery/istio/mesh/mesh-config.ts';
import { readMeshConfig } from '../../../../../src/pilot-discovery/istio/mesh/read-mesh-config.ts';
import { canonical, messageYaml, specIn } from '../../../../support/golden.ts';

const policyIn = (trafficPolicy: string) =>
  policyFor(
    specIn('DestinationRule', `{ host: a.mesh, trafficPolicy: ${trafficPolicy} }`),
    80,
    undefined,
  );
const meshWith = (localityLbSetting: string) =>
  readMeshConfig(`localityLbSetting: ${localityLbSetting}`, 'mesh.yaml').mesh;
const balancingOf = (
  trafficPolicy: string,
  distribution: TrafficDistribution = 'any',
  mesh: Pick<MeshConfig, 'localities'> = defaultMeshConfig,
): string => messageYaml(ClusterSchema, balancing(policyIn(trafficPolicy), distribution, mesh));

describe('a service that prefers near endpoints', () => {
  it.each<[what: string, trafficPolicy: string, commonLbConfig: string]>([
    [
      'has localities with weights',
      '{ loadBalancer: { simple: RANDOM } }',
      '{ healthy_panic_threshold: {}, locality_weighted_lb_config: {} }',
    ],
    [
      'has none if a rule says something about localities, and nothing about outliers',
      '{ loadBalancer: { localityLbSetting: { failoverPriority: [topology.kubernetes.io/region] } } }',
      '{ healthy_panic_threshold: {} }',
    ],
    [
      'has none if a rule switches them off',
      '{ loadBalancer: { localityLbSetting: { enabled: false } } }',
      '{ healthy_panic_threshold: {} }',
    ],
    [
      'keeps the threshold of a rule',
      '{ outlierDetection: { minHealthPercent: 20 } }',
      '{ healthy_panic_threshold: { value: 20 }, locality_weighted_lb_config: {} }',
    ],
  ])('%s', (_, trafficPolicy, commonLbConfig) => {
    expect(balancingOf(trafficPolicy, 'close')).toContain(
      canonical(`common_lb_config: ${commonLbConfig}`),
    );
  });
});

describe('the loadBalancer of a DestinationRule', () => {
  it.each<[what: string, loadBalancer: string, cluster: string]>([
    ['nothing said', '{}', '{ lb_policy: LEAST_REQUEST, common_lb_config: {} }'],
    [
      'UNSPECIFIED',
      '{ simple: UNSPECIFIED }',
      '{ lb_policy: LEAST_REQUEST, common_lb_config: {} }',
    ],
    [
      'LEAST_REQUEST',
      '{ simple: LEAST_REQUEST }',
      '{ lb_policy: LEAST_REQUEST, common_lb_config: {} }',
    ],
    [
      'LEAST_CONN, its old name',
      '{ simple: LEAST_CONN }',
      '{ lb_policy: LEAST_REQUEST, common_lb_config: {} }',
    ],
    [
      'ROUND_ROBIN, which is the default of Envoy',
      '{ simple: ROUND_ROBIN }',
      '{ common_lb_config: {} }',
    ],
    ['RANDOM', '{ simple: RANDOM }', '{ lb_policy: RANDOM, common_lb_config: {} }'],
    [
      'PASSTHROUGH',
      '{ simple: PASSTHROUGH }',
      '{ lb_policy: CLUSTER_PROVIDED, common_lb_config: {} }',
    ],
    [
      'warmup with the least requests',
      '{ simple: LEAST_REQUEST, warmup: { duration: 60s, minimumPercent: 20, aggression: 1.5 } }',
      `
lb_policy: LEAST_REQUEST
least_request_lb_config:
  slow_start_config:
    slow_start_window: 60s
    aggression: { default_value: 1.5, runtime_key: "(" }
    min_weight_percent: { value: 20 }
common_lb_config: {}`,
    ],
    [
      'warmup in turn, from 10 % in a straight line',
      '{ simple: ROUND_ROBIN, warmup: { duration: 60s } }',
      `
round_robin_lb_config:
  slow_start_config:
    slow_start_window: 60s
    aggression: { default_value: 1, runtime_key: "(" }
    min_weight_percent: { value: 10 }
common_lb_config: {}`,
    ],
    [
      'a hash, on a ring as large as Envoy has it',
      '{ consistentHash: { httpHeaderName: x } }',
      `
lb_policy: RING_HASH
ring_hash_lb_config: { minimum_ring_size: "1024" }
common_lb_config: {}`,
    ],
    [
      'a hash, on a ring of a size',
      '{ consistentHash: { httpHeaderName: x, ringHash: { minimumRingSize: 64 } } }',
      `
lb_policy: RING_HASH
ring_hash_lb_config: { minimum_ring_size: "64" }
common_lb_config: {}`,
    ],
    [
      'a hash by Maglev',
      '{ consistentHash: { httpHeaderName: x, maglev: { tableSize: 101 } } }',
      `
lb_policy: MAGLEV
maglev_lb_config: { table_size: "101" }
common_lb_config: {}`,
    ],
    [
      'localities by weight',
      '{ localityLbSetting: { distribute: [{ from: r/*, to: { "r/z1/*": 80, "r/z2/*": 20 } }] } }',
      '{ lb_policy: LEAST_REQUEST, common_lb_config: { locality_weighted_lb_config: {} } }',
    ],
    [
      'localities that are switched off',
      '{ localityLbSetting: { enabled: false, distribute: [{ from: r/*, to: { "r/z1/*": 100 } }] } }',
      '{ lb_policy: LEAST_REQUEST, common_lb_config: {} }',
    ],
    [
      'the own zone, from six endpoints on',
      '{ zoneAwareLbSetting: {} }',
      '{ lb_policy: LEAST_REQUEST, common_lb_config: { zone_aware_lb_config: { routing_enabled: { value: 100 }, min_cluster_size: "6" } } }',
    ],
    [
      'the own zone, from another number on',
      '{ simple: RANDOM, zoneAwareLbSetting: { enabled: true, minClusterSize: 1 } }',
      '{ lb_policy: RANDOM, common_lb_config: { zone_aware_lb_config: { routing_enabled: { value: 100 }, min_cluster_size: "1" } } }',
    ],
    [
      'no zone, which Envoy has to be told',
      '{ zoneAwareLbSetting: { enabled: false } }',
      '{ lb_policy: LEAST_REQUEST, common_lb_config: { zone_aware_lb_config: { routing_enabled: {} } } }',
    ],
    [
      'failover, which needs an outlierDetection',
      '{ localityLbSetting: { failover: [{ from: r1, to: r2 }] } }',
      '{ lb_policy: LEAST_REQUEST, common_lb_config: {} }',
    ],
  ])('%s', (_, loadBalancer, cluster) => {
    expect(balancingOf(`{ loadBalancer: ${loadBalancer} }`)).toBe(canonical(cluster));
  });

  it.each([
    ['failover: [{ from: r1, to: r2 }]'],
    ['failoverPriority: [topology.istio.io/network]'],
  ])('has localities by weight with %s and an outlierDetection', (setting) => {
    expect(
      balancingOf(
        `{ loadBalancer: { localityLbSetting: { ${setting} } }, outlierDetection: { interval: 5s } }`,
      ),
    ).toBe(
      canonical(`
lb_policy: LEAST_REQUEST
outlier_detection: { interval: 5s, enforcing_success_rate: 0 }
common_lb_config: { healthy_panic_threshold: {}, locality_weighted_lb_config: {} }`),
    );
  });
});

describe('the outlierDetection of a DestinationRule', () => {
  it.each<[what: string, outlierDetection: string, outlier: string, panic: string]>([
    ['nothing said: as Envoy has it', '{}', '{ enforcing_success_rate: 0 }', '{}'],
    [
      'all',
      `{ consecutive5xxErrors: 5, consecutiveGatewayErrors: 3, interval: 10s, baseEjectionTime: 30s,
         maxEjectionPercent: 50, minHealthPercent: 40 }`,
      `
  enforcing_success_rate: 0
  consecutive_5xx: 5
  enforcing_consecutive_5xx: 100
  consecutive_gateway_failure: 3
  enforcing_consecutive_gateway_failure: 100
  interval: 10s
  base_ejection_time: 30s
  max_ejection_percent: 50`,
      '{ value: 40 }',
    ],
    [
      'no errors of these kinds',
      '{ consecutive5xxErrors: 0, consecutiveGatewayErrors: 0 }',
      `
  enforcing_success_rate: 0
  consecutive_5xx: 0
  enforcing_consecutive_5xx: 0
  consecutive_gateway_failure: 0
  enforcing_consecutive_gateway_failure: 0`,
      '{}',
    ],
    [
      'failures of connections, counted apart',
      '{ splitExternalLocalOriginErrors: true, consecutiveLocalOriginFailures: 4 }',
      `
  enforcing_success_rate: 0
  split_external_local_origin_errors: true
  enforcing_local_origin_success_rate: 0
  consecutive_local_origin_failure: 4
  enforcing_consecutive_local_origin_failure: 100`,
      '{}',
    ],
  ])('%s', (_, outlierDetection, outlier, panic) => {
    expect(balancingOf(`{ outlierDetection: ${outlierDetection} }`)).toBe(
      canonical(`
lb_policy: LEAST_REQUEST
outlier_detection: ${outlier}
common_lb_config: { healthy_panic_threshold: ${panic} }`),
    );
  });
});

it('sends requests where they were going with PASSTHROUGH alone', () => {
  const kinds = ['PASSTHROUGH', 'RANDOM', 'UNSPECIFIED'];
  expect(
    kinds.filter((kind) => isPassthrough(policyIn(`{ loadBalancer: { simple: ${kind} } }`))),
  ).toEqual(['PASSTHROUGH']);
});

describe('localities of the MeshConfig', () => {
  const shares = '{ distribute: [{ from: r/*, to: { "r/z1/*": 100 } }] }';
  const failover = '{ failover: [{ from: r1, to: r2 }] }';
  const failing = '{ outlierDetection: { interval: 5s } }';
  it.each<[what: string, setting: string, trafficPolicy: string, commonLbConfig: string]>([
    [
      'have weights with shares',
      shares,
      '{ loadBalancer: {} }',
      '{ locality_weighted_lb_config: {} }',
    ],
    [
      'have none if they are off',
      shares.replace('{', '{ enabled: false,'),
      '{ loadBalancer: {} }',
      '{}',
    ],
    ['have none with failover alone', failover, '{ loadBalancer: {} }', '{}'],
    [
      'have weights with failover and an outlierDetection',
      failover,
      failing,
      '{ healthy_panic_threshold: {}, locality_weighted_lb_config: {} }',
    ],
    [
      'do not count beside a rule',
      shares,
      '{ loadBalancer: { localityLbSetting: { enabled: false } } }',
      '{}',
    ],
    [
      'do not count if a rule prefers the own zone',
      shares,
      '{ loadBalancer: { zoneAwareLbSetting: {} } }',
      '{ zone_aware_lb_config: { routing_enabled: { value: 100 }, min_cluster_size: "6" } }',
    ],
    [
      'have weights if a rule prefers no zone',
      shares,
      '{ loadBalancer: { zoneAwareLbSetting: { enabled: false } } }',
      '{ locality_weighted_lb_config: {} }',
    ],
  ])('%s', (_, setting, trafficPolicy, commonLbConfig) => {
    expect(balancingOf(trafficPolicy, 'any', meshWith(setting))).toContain(
      canonical(`common_lb_config: ${commonLbConfig}`),
    );
  });
});
