import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { placed } from '../../../../../src/pilot-discovery/generate/endpoints/locality-lb.ts';
import { localityPolicyOf } from '../../../../../src/pilot-discovery/generate/scope/locality-policy.ts';
import { readMeshConfig } from '../../../../../src/pilot-discovery/istio/mesh/read-mesh-config.ts';
import type { TrafficDistribution } from '../../../../../src/pilot-discovery/istio/hosts/traffic-distribution.ts';
import { policyFor } from '../../../../../src/pilot-discovery/generate/scope/traffic-policy.ts';
import { canonical, resourceText } from '../../../../support/golden.ts';
import { environmentOf } from '../../../../support/generated.ts';

/** The place of a proxy in these tests. */
const place = {
  locality: 'us/east/a',
  network: 'n1',
  labels: { rack: '7', tier: 'gold' },
};

/**
 * Returns a service with endpoints `LOCALITY [WEIGHT] [LABELS]` at 10.0.0.1, 10.0.0.2 and so on.
 */
function serviceWith(texts: readonly string[]): string {
  const all = texts.map((text, index) => {
    const [locality = '', weight = '0', labels = '{}'] = text.split(' ');
    return `{ address: 10.0.0.${index + 1}, locality: ${locality}, weight: ${weight}, labels: ${labels.replaceAll(':', ': ')} }`;
  });
  return resourceText(
    'ServiceEntry',
    'a',
    `{ hosts: [a.mesh], resolution: STATIC, ports: [{ number: 80, name: http }], endpoints: [${all.join()}] }`,
  );
}

/**
 * Returns the priorities and weights of localities, with the last number of each endpoint's
 * address.
 */
function placesOf(
  trafficPolicy: string,
  endpoints: readonly string[],
  distribution: TrafficDistribution = 'any',
  localityLbSetting = '{}',
): string {
  const { mesh } = readMeshConfig(`localityLbSetting: ${localityLbSetting}`, 'mesh.yaml');
  const ruled = trafficPolicy === '' ? '' : `, trafficPolicy: ${trafficPolicy}`;
  const rule = resourceText('DestinationRule', 'a', `{ host: a.mesh${ruled} }`);
  const environment = environmentOf(`${serviceWith(endpoints)}---\n${rule}`);
  const serviceEndpoints = environment.endpoints.get('default/a.mesh')?.get(80) ?? [];
  const spec = environment.destinationRules.get('a.mesh')?.[0]?.spec;
  const policy = localityPolicyOf(policyFor(spec, 80, undefined), distribution, mesh);
  const all = placed(serviceEndpoints, policy, place, (group) => group).map((group) => ({
    locality: group.locality,
    priority: group.priority,
    weight: group.weight,
    endpoints: group.endpoints.map(({ address }) => Number(address.split('.').pop())),
  }));
  return stringify(all, { sortMapEntries: true });
}

const everywhere = ['us/east/a', 'us/east/b', 'us/west/a', 'eu/north/a', 'asia/south/a'];
const failing = 'outlierDetection: { interval: 5s }';
const settings = (yaml: string, more = failing) =>
  `{ loadBalancer: { localityLbSetting: ${yaml} }, ${more} }`;

describe('the endpoints of localities', () => {
  it.each<[what: string, trafficPolicy: string, endpoints: readonly string[], places: string]>([
    [
      'are used alike without an outlierDetection, each with the sum of its weights',
      '',
      ['us/east/a 2', 'us/west/a', 'us/east/a 3'],
      `
- { locality: us/east/a, priority: 0, weight: 5, endpoints: [1, 3] }
- { locality: us/west/a, priority: 0, weight: 1, endpoints: [2] }`,
    ],
    [
      'are used alike if they are switched off',
      settings('{ enabled: false }'),
      ['us/west/a', 'us/east/a'],
      `
- { locality: us/east/a, priority: 0, weight: 1, endpoints: [2] }
- { locality: us/west/a, priority: 0, weight: 1, endpoints: [1] }`,
    ],
    [
      'are used by distance: subzone, zone, region, elsewhere',
      `{ ${failing} }`,
      everywhere,
      `
- { locality: asia/south/a, priority: 3, weight: 1, endpoints: [5] }
- { locality: eu/north/a, priority: 3, weight: 1, endpoints: [4] }
- { locality: us/east/a, priority: 0, weight: 1, endpoints: [1] }
- { locality: us/east/b, priority: 1, weight: 1, endpoints: [2] }
- { locality: us/west/a, priority: 2, weight: 1, endpoints: [3] }`,
    ],
    [
      'are used in a region that is named before those elsewhere',
      settings('{ failover: [{ from: eu, to: asia }, { from: us, to: eu }] }'),
      everywhere,
      `
- { locality: asia/south/a, priority: 4, weight: 1, endpoints: [5] }
- { locality: eu/north/a, priority: 3, weight: 1, endpoints: [4] }
- { locality: us/east/a, priority: 0, weight: 1, endpoints: [1] }
- { locality: us/east/b, priority: 1, weight: 1, endpoints: [2] }
- { locality: us/west/a, priority: 2, weight: 1, endpoints: [3] }`,
    ],
    [
      'are used by region if Envoy chooses between zones, without outlier detection',
      '{ loadBalancer: { zoneAwareLbSetting: { enabled: true } } }',
      everywhere,
      `
- { locality: asia/south/a, priority: 1, weight: 1, endpoints: [5] }
- { locality: eu/north/a, priority: 1, weight: 1, endpoints: [4] }
- { locality: us/east/a, priority: 0, weight: 1, endpoints: [1] }
- { locality: us/east/b, priority: 0, weight: 1, endpoints: [2] }
- { locality: us/west/a, priority: 0, weight: 1, endpoints: [3] }`,
    ],
    [
      'are used by the regions that zones name, below their labels',
      '{ loadBalancer: { zoneAwareLbSetting: { failover: [{ from: us, to: eu }], failoverPriority: [tier] } } }',
      [
        'us/east/a 0 {tier:gold}',
        'us/west/a',
        'eu/north/a',
        'asia/south/a',
        'eu/north/b 0 {tier:gold}',
      ],
      `
- { locality: asia/south/a, priority: 4, weight: 1, endpoints: [4] }
- { locality: eu/north/a, priority: 3, weight: 1, endpoints: [3] }
- { locality: eu/north/b, priority: 1, weight: 1, endpoints: [5] }
- { locality: us/east/a, priority: 0, weight: 1, endpoints: [1] }
- { locality: us/west/a, priority: 2, weight: 1, endpoints: [2] }`,
    ],
    [
      'are used by the labels of zones, and by region below them',
      '{ loadBalancer: { zoneAwareLbSetting: { failoverPriority: [tier] } } }',
      ['us/east/a', 'eu/north/a', 'eu/north/b 0 {tier:gold}'],
      `
- { locality: eu/north/a, priority: 2, weight: 1, endpoints: [2] }
- { locality: eu/north/b, priority: 0, weight: 1, endpoints: [3] }
- { locality: us/east/a, priority: 1, weight: 1, endpoints: [1] }`,
    ],
    [
      'are used alike if zones are switched off',
      '{ loadBalancer: { zoneAwareLbSetting: { enabled: false, failover: [{ from: us, to: eu }] } } }',
      ['us/west/a', 'eu/north/a'],
      `
- { locality: eu/north/a, priority: 0, weight: 1, endpoints: [2] }
- { locality: us/west/a, priority: 0, weight: 1, endpoints: [1] }`,
    ],
    [
      'have priorities without gaps',
      `{ ${failing} }`,
      ['us/west/a', 'eu/north/a'],
      `
- { locality: eu/north/a, priority: 1, weight: 1, endpoints: [2] }
- { locality: us/west/a, priority: 0, weight: 1, endpoints: [1] }`,
    ],
  ])('%s', (_, trafficPolicy, endpoints, places) => {
    expect(placesOf(trafficPolicy, endpoints)).toBe(canonical(places));
  });
});

describe('the endpoints of a service that prefers near ones', () => {
  const labelled = everywhere.map((locality) => {
    const [region = '', zone = '', subzone = ''] = locality.split('/');
    return `${locality} 0 {topology.istio.io/network:n1,topology.kubernetes.io/region:${region},topology.kubernetes.io/zone:${zone},topology.istio.io/subzone:${subzone}}`;
  });
  const byNearness = `
- { locality: asia/south/a, priority: 3, weight: 1, endpoints: [5] }
- { locality: eu/north/a, priority: 3, weight: 1, endpoints: [4] }
- { locality: us/east/a, priority: 0, weight: 1, endpoints: [1] }
- { locality: us/east/b, priority: 1, weight: 1, endpoints: [2] }
- { locality: us/west/a, priority: 2, weight: 1, endpoints: [3] }`;
  const alike = byNearness.replaceAll(/priority: \d/g, 'priority: 0');
  it.each<[what: string, trafficPolicy: string, places: string]>([
    ['are used by network, region, zone and subzone, without outlier detection', '', byNearness],
    ['are so with another policy of a rule', '{ loadBalancer: { simple: RANDOM } }', byNearness],
    ['are used alike if a rule says so', settings('{ enabled: false }', ''), alike],
    ['are used as a rule says, which needs outlier detection', settings('{}', ''), alike],
  ])('%s', (_, trafficPolicy, places) => {
    expect(placesOf(trafficPolicy, labelled, 'close')).toBe(canonical(places));
  });
});

describe('the shares of localities', () => {
  it.each<[what: string, to: string, endpoints: readonly string[], places: string]>([
    [
      'are divided by weight among the localities that a share is for, and are rounded up',
      '{ from: "us/east/*", to: { "us/east/*": 80, "us/west/*": 20 } }',
      ['us/east/a 1', 'us/east/b 2', 'us/west/a 7', 'eu/north/a'],
      `
- { locality: eu/north/a, priority: 0, weight: 1, endpoints: [] }
- { locality: us/east/a, priority: 0, weight: 27, endpoints: [1] }
- { locality: us/east/b, priority: 0, weight: 54, endpoints: [2] }
- { locality: us/west/a, priority: 0, weight: 20, endpoints: [3] }`,
    ],
    [
      'are those of the place of the proxy',
      '{ from: "eu/*", to: { "us/*": 100 } }, { from: "us/*", to: { "eu/*": 100 } }',
      ['us/east/a', 'eu/north/a'],
      `
- { locality: eu/north/a, priority: 0, weight: 100, endpoints: [2] }
- { locality: us/east/a, priority: 0, weight: 1, endpoints: [] }`,
    ],
    [
      'are none if they are for other places, and nor has distance a say',
      '{ from: "eu/*", to: { "eu/*": 100 } }',
      ['us/east/a', 'eu/north/a'],
      `
- { locality: eu/north/a, priority: 0, weight: 1, endpoints: [2] }
- { locality: us/east/a, priority: 0, weight: 1, endpoints: [1] }`,
    ],
  ])('%s', (_, to, endpoints, places) => {
    expect(placesOf(settings(`{ distribute: [${to}] }`), endpoints)).toBe(canonical(places));
  });
});

describe('the localities of the MeshConfig', () => {
  const three = ['us/east/a', 'eu/north/a', 'asia/south/a'];
  const alike = `
- { locality: asia/south/a, priority: 0, weight: 1, endpoints: [3] }
- { locality: eu/north/a, priority: 0, weight: 1, endpoints: [2] }
- { locality: us/east/a, priority: 0, weight: 1, endpoints: [1] }`;
  const toAsia = '{ failover: [{ from: us, to: asia }] }';
  const byRegion = `
- { locality: asia/south/a, priority: 1, weight: 1, endpoints: [3] }
- { locality: eu/north/a, priority: 2, weight: 1, endpoints: [2] }
- { locality: us/east/a, priority: 0, weight: 1, endpoints: [1] }`;
  it.each<[what: string, setting: string, trafficPolicy: string, places: string]>([
    ['fail over with outlier detection', toAsia, `{ ${failing} }`, byRegion],
    ['do not without it', toAsia, '', alike],
    ['do not if they are off', '{ enabled: false }', `{ ${failing} }`, alike],
    ['do not count beside a rule', toAsia, settings('{ enabled: false }'), alike],
    [
      'have shares, without a rule',
      '{ distribute: [{ from: us/*, to: { "asia/*": 100 } }] }',
      '',
      `
- { locality: asia/south/a, priority: 0, weight: 100, endpoints: [3] }
- { locality: eu/north/a, priority: 0, weight: 1, endpoints: [] }
- { locality: us/east/a, priority: 0, weight: 1, endpoints: [] }`,
    ],
  ])('%s', (_, setting, trafficPolicy, places) => {
    expect(placesOf(trafficPolicy, three, 'any', setting)).toBe(canonical(places));
  });
});

describe('the labels that decide the priority of an endpoint', () => {
  const labelled = [
    'us/east/a 0 {rack:"7",tier:gold}',
    'us/west/a 0 {rack:"7",tier:silver}',
    'us/west/a 0 {rack:"8",tier:gold}',
    'us/east/a 0 {tier:gold}',
  ];
  it.each<[what: string, priority: string, places: string]>([
    [
      'are those of the proxy, in the order of the rule: the first that differs ends it',
      '[rack, tier]',
      `
- { locality: us/east/a, priority: 0, weight: 1, endpoints: [1] }
- { locality: us/east/a, priority: 2, weight: 1, endpoints: [4] }
- { locality: us/west/a, priority: 1, weight: 1, endpoints: [2] }
- { locality: us/west/a, priority: 2, weight: 1, endpoints: [3] }`,
    ],
    [
      'may have another value than that of the proxy',
      '["tier=silver"]',
      `
- { locality: us/east/a, priority: 1, weight: 2, endpoints: [1, 4] }
- { locality: us/west/a, priority: 0, weight: 1, endpoints: [2] }
- { locality: us/west/a, priority: 1, weight: 1, endpoints: [3] }`,
    ],
    [
      'may be places',
      '[topology.kubernetes.io/region, topology.kubernetes.io/zone]',
      `
- { locality: us/east/a, priority: 0, weight: 2, endpoints: [1, 4] }
- { locality: us/west/a, priority: 1, weight: 2, endpoints: [2, 3] }`,
    ],
  ])('%s', (_, priority, places) => {
    expect(placesOf(settings(`{ failoverPriority: ${priority} }`), labelled)).toBe(
      canonical(places),
    );
  });

  it('come before the distance if the rule has a failover too', () => {
    const both = '{ failoverPriority: [rack], failover: [{ from: us, to: eu }] }';
    expect(
      placesOf(settings(both), ['eu/north/a 0 {rack:"7"}', 'us/east/a', 'us/west/a 0 {rack:"7"}']),
    ).toBe(
      canonical(`
- { locality: eu/north/a, priority: 1, weight: 1, endpoints: [1] }
- { locality: us/east/a, priority: 2, weight: 1, endpoints: [2] }
- { locality: us/west/a, priority: 0, weight: 1, endpoints: [3] }`),
    );
  });
});
