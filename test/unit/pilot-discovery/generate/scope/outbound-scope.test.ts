import { describe, expect, it } from 'vitest';
import { outboundScope } from '../../../../../src/pilot-discovery/generate/scope/outbound-scope.ts';
import { hashingRulesOf } from '../../../../../src/pilot-discovery/generate/routes/rules-of-hosts.ts';
import type { Environment } from '../../../../../src/pilot-discovery/environment/environment.ts';
import { resourceText } from '../../../../support/golden.ts';
import { environmentOf, proxyAt } from '../../../../support/generated.ts';

const service = (host: string, namespace: string, ports = [80], more = '') =>
  resourceText(
    'ServiceEntry',
    host.replaceAll('.', '-').replace('*', 'w'),
    `{ hosts: ['${host}'], resolution: STATIC, ports: [${ports.map((number) => `{ number: ${String(number)}, name: p${String(number)}, protocol: HTTP }`).join(', ')}], endpoints: [{ address: 10.0.0.9 }]${more} }`,
    { namespace },
  );
const leading = (name: string, host: string, to: string, namespace: string, more = '') =>
  resourceText(
    'VirtualService',
    name,
    `{ hosts: [${host}], http: [{ ${more}route: [{ destination: { host: ${to} } }] }] }`,
    { namespace },
  );
const sidecar = (hosts: string, namespace = 'default') =>
  resourceText('Sidecar', 's', `{ egress: [{ hosts: [${hosts}] }] }`, { namespace });

const services = [
  service('a.default.svc.cluster.local', 'default'),
  service('b.shop.svc.cluster.local', 'shop', [80, 81]),
  service('c.example.com', 'shop'),
  service('c.example.com', 'other'),
  service('d.mesh', 'other', [80, 82]),
];

/** Returns `HOST:PORTS of NAMESPACE` for each service that a proxy of `default` has clusters of. */
function scopedServices(...more: readonly string[]): readonly string[] {
  const environment = environmentOf([...services, ...more].join('---\n'));
  return [...outboundScope(environment, proxyAt()).services.values()]
    .map(
      ({ host, namespace, ports }) =>
        `${host}:${ports.map(({ number }) => number).join()} of ${namespace}`,
    )
    .sort();
}

const [a, b, ofOther, ofShop, d] = [
  'a.default.svc.cluster.local:80 of default',
  'b.shop.svc.cluster.local:80,81 of shop',
  'c.example.com:80 of other',
  'c.example.com:80 of shop',
  'd.mesh:80,82 of other',
];

describe('what a proxy with a Sidecar sees', () => {
  it.each([
    ["'*/*'", [a, b, ofOther, d]],
    ["'./*'", [a]],
    ["'~/*'", []],
    ['shop/c.example.com', [ofShop]],
    ["'*/c.example.com'", [ofOther]],
    ["'shop/*.example.com', 'other/d.mesh'", [ofShop, d]],
    ["'*/*.cluster.local'", [a, b]],
    ['shop/d.mesh', []],
  ])('by the hosts %s', (hosts, expected) => {
    expect(scopedServices(sidecar(hosts))).toEqual(expected);
  });

  it.each([
    ['all of a destination', leading('v', 'b.shop.svc.cluster.local', 'd.mesh', 'shop'), [b, d]],
    [
      'the port of a destination',
      leading(
        'v',
        'b.shop.svc.cluster.local',
        '{ host: d.mesh, port: { number: 82 } }',
        'shop',
      ).replace(
        /host:\n\s+host: d.mesh\n\s+port:\n\s+number: 82/,
        'host: d.mesh\n            port: { number: 82 }',
      ),
      [b, 'd.mesh:82 of other'],
    ],
    [
      'no destination for other callers',
      leading(
        'v',
        'b.shop.svc.cluster.local',
        'd.mesh',
        'shop',
        'match: [{ sourceNamespace: x }], ',
      ),
      [b],
    ],
    [
      'no destination of a rule that is not seen',
      leading('v', 'b.shop.svc.cluster.local', 'd.mesh', 'other'),
      [b],
    ],
  ])('has %s of a VirtualService', (_, rule, expected) => {
    expect(scopedServices(rule, sidecar('shop/b.shop.svc.cluster.local'))).toEqual(expected);
  });
});

describe('the scope of a Sidecar', () => {
  const named = sidecar("'shop/*', './*'");
  const before = environmentOf([...services, named].join('---\n'));
  const after = (...more: readonly string[]): Environment =>
    environmentOf(more.join('---\n'), { before });
  const scopeAndRules = (environment: Environment) => {
    const scope = outboundScope(environment, proxyAt());
    return [scope, hashingRulesOf(environment, proxyAt(), scope.services)] as const;
  };

  it.each([
    ['a service', service('x.mesh', 'other')],
    ['a service of the same host', service('d.mesh', 'third')],
    ['a private service', service('y.mesh', 'shop', [80], ', exportTo: [third]')],
    ['a VirtualService', leading('v', 'd.mesh', 'c.example.com', 'other')],
    [
      'a DestinationRule',
      resourceText('DestinationRule', 'r', '{ host: d.mesh, subsets: [{ name: v1 }] }', {
        namespace: 'other',
      }),
    ],
    ['another Sidecar', sidecar("'*/*'", 'other')],
  ])('is the same object after a change of %s that it does not see', (_, change) => {
    const [scope, rules] = scopeAndRules(before);
    expect(scopeAndRules(after(change))[0]).toBe(scope);
    expect(scopeAndRules(after(change))[1]).toBe(rules);
  });

  it('is another one after a change of a service that it sees', () => {
    const [scope] = scopeAndRules(before);
    expect(scopeAndRules(after(service('z.mesh', 'shop')))[0]).not.toBe(scope);
  });

  it('is that of all namespaces that see the same', () => {
    const environment = environmentOf(
      [...services, sidecar('shop/*', 'istio-system')].join('---\n'),
    );
    const scopeOf = (namespace: string) => outboundScope(environment, proxyAt({ namespace }));
    expect(scopeOf('n1')).toBe(scopeOf('n2'));
  });
});
