import { describe, expect, it } from 'vitest';
import { destinationRuleOf } from '../../../../../src/pilot-discovery/generate/scope/destination-rule-of.ts';
import { resourceText } from '../../../../support/golden.ts';
import { environmentOf } from '../../../../support/generated.ts';

/** Returns a rule from `NAMESPACE/NAME HOST [SECOND]`, created in this second. */
function rule(text: string, more = ''): string {
  const [place = '', host = '', second = '0'] = text.split(' ');
  const [namespace = '', name = ''] = place.split('/');
  return resourceText(
    'DestinationRule',
    name,
    `{ host: "${host}", ${more === '' ? 'trafficPolicy: { loadBalancer: { simple: RANDOM } }' : more} }`,
    { namespace, creationTimestamp: `2020-01-01T00:00:0${second}Z` },
  );
}

/** Returns the rule that a proxy has for a.server.mesh of the namespace `server`. */
function ruleFor(rules: readonly string[], labels = { app: 'app' }, namespace = 'client') {
  return destinationRuleOf(
    environmentOf(rules.join('---\n')),
    { namespace, labels },
    { host: 'a.server.mesh', namespace: 'server' },
  );
}

describe('the DestinationRule for a service', () => {
  const selecting = 'workloadSelector: { matchLabels: { app: app } }';
  it.each<[what: string, rules: readonly string[], name: string | undefined]>([
    ['none for another host', [rule('client/a b.mesh')], undefined],
    ['of its namespace', [rule('server/s a.server.mesh')], 'server/s'],
    [
      'of the namespace of who calls, before that of the service',
      [rule('server/s a.server.mesh'), rule('client/c a.server.mesh 1')],
      'client/c',
    ],
    ['of the mesh', [rule('istio-system/m a.server.mesh')], 'istio-system/m'],
    [
      'of the namespace of the service, before that of the mesh',
      [rule('istio-system/m a.server.mesh'), rule('server/s a.server.mesh 1')],
      'server/s',
    ],
    ['none of a third namespace', [rule('other/o a.server.mesh')], undefined],
    ['for a wildcard', [rule('client/w *.mesh')], 'client/w'],
    [
      'for the narrowest host',
      [rule('client/w *.mesh'), rule('client/n *.server.mesh 1'), rule('client/all * 2')],
      'client/n',
    ],
    [
      'for the wildcard of who calls, before the host itself of the service',
      [rule('client/w *.mesh'), rule('server/s a.server.mesh')],
      'client/w',
    ],
    [
      'none that is exported to others',
      [
        rule(
          'server/s a.server.mesh',
          'exportTo: [other], trafficPolicy: { loadBalancer: { simple: RANDOM } }',
        ),
      ],
      undefined,
    ],
    [
      'none that is kept',
      [
        rule(
          'server/s a.server.mesh',
          'exportTo: ["."], trafficPolicy: { loadBalancer: { simple: RANDOM } }',
        ),
      ],
      undefined,
    ],
    [
      'that selects the workload, before one for all',
      [rule('client/c a.server.mesh'), rule('client/w a.server.mesh 1', selecting)],
      'client/w',
    ],
    [
      'none that selects the workload in another namespace',
      [rule('server/w a.server.mesh', selecting)],
      undefined,
    ],
  ])('%s', (_, rules, name) => {
    const chosenRule = ruleFor(rules);
    expect(chosenRule && `${chosenRule.namespace}/${chosenRule.name}`).toBe(name);
  });

  const kept = 'exportTo: ["."], trafficPolicy: { loadBalancer: { simple: RANDOM } }';
  it.each<[what: string, rules: readonly string[], name: string]>([
    [
      'of the namespace of the service, before one for the whole mesh',
      [rule('istio-system/m a.server.mesh'), rule('server/s *.mesh 1')],
      'server/s',
    ],
    ['for the whole mesh, if there is no other', [rule('istio-system/m *.mesh')], 'istio-system/m'],
    [
      'that is only for its own namespace, before that of the service',
      [rule('server/s a.server.mesh'), rule('istio-system/k *.mesh 1', kept)],
      'istio-system/k',
    ],
    [
      'that its own namespace has by its name, before that of the service',
      [
        rule('server/s a.server.mesh'),
        rule('istio-system/k *.mesh 1', kept.replace('"."', 'istio-system')),
      ],
      'istio-system/k',
    ],
    [
      'of the service, before one that other namespaces have too',
      [rule('istio-system/k *.mesh', kept.replace('"."', '".", other')), rule('server/s *.mesh 1')],
      'server/s',
    ],
  ])('is for a proxy of the root namespace %s', (_, rules, name) => {
    const chosenRule = ruleFor(rules, undefined, 'istio-system');
    expect(chosenRule && `${chosenRule.namespace}/${chosenRule.name}`).toBe(name);
  });

  it('is one for all if it selects other workloads', () => {
    const rules = [rule('client/c a.server.mesh'), rule('client/w a.server.mesh 1', selecting)];
    expect(ruleFor(rules, { app: 'b' })?.name).toBe('c');
  });

  it('is put together of several: the oldest policy, and the subsets of all', () => {
    const mergedRule = ruleFor([
      rule('server/old a.server.mesh 0', 'subsets: [{ name: v1, labels: { v: "1" } }]'),
      rule(
        'server/new a.server.mesh 1',
        'trafficPolicy: { loadBalancer: { simple: RANDOM } }, subsets: [{ name: v1, labels: { v: "9" } }, { name: v2, labels: { v: "2" } }]',
      ),
      rule('server/newest a.server.mesh 2', 'trafficPolicy: { tls: { mode: DISABLE } }'),
    ]);
    expect(mergedRule?.name).toBe('old');
    expect(mergedRule?.spec.trafficPolicy?.loadBalancer?.policy.type).toBe('random');
    expect(mergedRule?.spec.trafficPolicy?.tls).toBeUndefined();
    expect(mergedRule?.spec.subsets.map(({ name, labels }) => [name, labels['v']])).toEqual([
      ['v1', '1'],
      ['v2', '2'],
    ]);
    expect(mergedRule?.keys).toEqual(
      ['old', 'new', 'newest'].map((name) => `DestinationRule/server/${name}`),
    );
  });
});
