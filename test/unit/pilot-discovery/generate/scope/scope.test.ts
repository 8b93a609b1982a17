import { describe, expect, it } from 'vitest';
import {
  labelsOfPlaces,
  scopeOfDomain,
  scopeOfPlace,
  scopeOfRules,
  scopeOfRulesFor,
  scopeOfServices,
  scopeOfVirtualServices,
} from '../../../../../src/pilot-discovery/generate/scope/scope.ts';
import { readMeshConfig } from '../../../../../src/pilot-discovery/istio/mesh/read-mesh-config.ts';
import { proxyIn, resourceText } from '../../../../support/golden.ts';
import { environmentOf } from '../../../../support/generated.ts';

const service = (name: string, namespace: string, more = '') =>
  resourceText(
    'ServiceEntry',
    name,
    `{ hosts: [a.mesh], resolution: STATIC, ports: [{ number: 80, name: http }], ${more} }`,
    { namespace },
  );
const rule = (namespace: string, more = 'trafficPolicy: { tls: { mode: DISABLE } }') =>
  resourceText('DestinationRule', 'r', `{ host: a.mesh, ${more} }`, { namespace });
const virtual = (more: string, match = 'uri: { prefix: / }') =>
  resourceText(
    'VirtualService',
    'v',
    `{ hosts: [a.mesh], http: [{ match: [{ ${match} }], directResponse: { status: 200 } }], ${more} }`,
  );
const proxyOf = (namespace: string, metadata = '') =>
  proxyIn(metadata, { id: `sidecar~10.0.0.1~app.${namespace}~${namespace}.svc.cluster.local` });

describe('namespaces share what is made for them', () => {
  it.each<[what: string, yaml: readonly string[], scopes: readonly string[]]>([
    ['one service for all', [service('s', 'a')], ['', '', '']],
    ['a host of two namespaces', [service('s', 'a'), service('s', 'b')], ['a', 'b', '']],
    ['a service that is exported to one', [service('s', 'a', 'exportTo: [b]')], ['a', 'b', '']],
    ['a service that is kept', [service('s', 'a', 'exportTo: ["."]')], ['a', '', '']],
    ['a service that is exported to all', [service('s', 'a', 'exportTo: ["*"]')], ['', '', '']],
  ])('of services: %s', (_, yaml, scopes) => {
    const environment = environmentOf(yaml.join('---\n'));
    expect(['a', 'b', 'c'].map((namespace) => scopeOfServices(environment, namespace))).toEqual(
      scopes,
    );
  });

  it.each<[what: string, yaml: string, scopes: readonly string[]]>([
    ['none', '', ['', '', '']],
    ['one has a rule', rule('a'), ['a', '', '']],
    [
      'one has a rule for another',
      rule('a', 'exportTo: [b], trafficPolicy: { tls: { mode: DISABLE } }'),
      ['a', 'b', ''],
    ],
  ])('of rules: %s', (_, yaml, scopes) => {
    const environment = environmentOf(yaml);
    expect(['a', 'b', 'c'].map((namespace) => scopeOfRules(environment, namespace))).toEqual(
      scopes,
    );
    expect(
      ['a', 'b', 'c'].map((namespace) => scopeOfRulesFor(environment, proxyOf(namespace))),
    ).toEqual(scopes.map((scope) => (scope === '' ? '' : JSON.stringify([scope]))));
  });

  it('of rules: labels count if a rule of the namespace selects workloads by them', () => {
    const selecting = (namespace: string) =>
      rule(namespace, 'workloadSelector: { matchLabels: { version: v1, app: x } }, subsets: []');
    const environment = environmentOf([selecting('a'), rule('b')].join('---\n'));
    expect(
      ['a', 'b', 'c'].map((namespace) => scopeOfRulesFor(environment, proxyOf(namespace))),
    ).toEqual(['["a","app",null]', '["b"]', '']);
  });

  const [everybodyA, everybodyB] = ['a', 'b'].map((namespace) =>
    JSON.stringify([namespace, { app: 'app' }]),
  );
  it.each<[what: string, yaml: string, scopes: readonly (string | undefined)[]]>([
    ['for all', virtual(''), ['', '']],
    ['exported to one', virtual('exportTo: [a]'), ['a', '']],
    ['that asks for labels', virtual('', 'sourceLabels: { app: app }'), [everybodyA, everybodyB]],
    ['that asks for a namespace', virtual('', 'sourceNamespace: a'), [everybodyA, everybodyB]],
  ])('of VirtualServices: one %s', (_, yaml, scopes) => {
    const environment = environmentOf(yaml);
    expect(
      ['a', 'b'].map((namespace) => scopeOfVirtualServices(environment, proxyOf(namespace))),
    ).toEqual(scopes);
  });
});

it.each([
  ['no host is of its domain', 'x.com', 'default.svc.cluster.local', '.svc.cluster.local'],
  [
    'a host is',
    'x.default.svc.cluster.local',
    'default.svc.cluster.local',
    'default.svc.cluster.local',
  ],
  ['it is not a domain of Kubernetes', 'x.com', 'my.domain', 'my.domain'],
])('short names of a proxy are those of all namespaces if %s', (_, host, domain, scope) => {
  expect(scopeOfDomain(new Map([[host, undefined]]), domain)).toBe(scope);
});

describe('the place of a proxy', () => {
  const priority = '{ failoverPriority: [app] }';
  const shares = '{ distribute: [{ from: r/*, to: { "r/*": 100 } }] }';
  const failover = (priority: string) =>
    rule(
      'a',
      `trafficPolicy: { outlierDetection: { interval: 5s }, loadBalancer: { localityLbSetting: { failoverPriority: ${priority} } } }`,
    );

  it.each<
    [what: string, yaml: string, labels: readonly string[], scope: string, localities?: string]
  >([
    ['makes no difference without rules', '', [], ''],
    ['is its locality and its network', rule('a'), [], '["r/z/s","n",[]]'],
    [
      'is the labels that rules name too, by name',
      failover('[zone=1, app, rack]'),
      ['app', 'rack', 'zone'],
      '["r/z/s","n",["app",null,null]]',
    ],
    [
      'is the labels of localities if a service prefers near endpoints',
      'apiVersion: v1\nkind: Service\nmetadata: { name: a, namespace: default }\nspec: { trafficDistribution: PreferClose, ports: [{ port: 80 }] }\n',
      [
        'topology.istio.io/network',
        'topology.istio.io/subzone',
        'topology.kubernetes.io/region',
        'topology.kubernetes.io/zone',
      ],
      '["r/z/s","n",[null,null,null,null]]',
    ],
    [
      'is the labels by which zones fail over too',
      rule(
        'a',
        'trafficPolicy: { loadBalancer: { zoneAwareLbSetting: { failoverPriority: [app] } } }',
      ),
      ['app'],
      '["r/z/s","n",["app"]]',
    ],
    ['is the labels of the MeshConfig too', rule('a'), ['app'], '["r/z/s","n",["app"]]', priority],
    ['makes no difference without rules if the MeshConfig fails over', '', ['app'], '', priority],
    [
      'makes a difference without rules if the MeshConfig has shares',
      '',
      [],
      '["r/z/s","n",[]]',
      shares,
    ],
    ['makes none if these shares are off', '', [], '', shares.replace('{', '{ enabled: false,')],
  ])('%s', (_, yaml, labels, scope, localities = '{}') => {
    const { mesh } = readMeshConfig(`localityLbSetting: ${localities}`, 'mesh.yaml');
    const environment = environmentOf(yaml, { mesh });
    const proxy = proxyIn('NETWORK: n', { locality: 'r/z/s' });
    expect(labelsOfPlaces(environment)).toEqual(labels);
    expect(scopeOfPlace(environment, proxy)).toBe(scope);
  });
});
