import { describe, expect, it } from 'vitest';
import { hashPolicyOf } from '../../../../../src/pilot-discovery/generate/routes/hash-policy.ts';
import { RouteAction_HashPolicySchema } from '../../../../../src/shared/proto/envoy/config/route/v3/route_components_pb.ts';
import { canonical, messageYaml, specIn } from '../../../../support/golden.ts';

const policyFor = (rule: string, subset = '', port = 0): string =>
  messageYaml(
    RouteAction_HashPolicySchema,
    hashPolicyOf(specIn('DestinationRule', rule), subset, port),
  );

const hashBy = (key: string) => `{ loadBalancer: { consistentHash: ${key} } }`;

describe('the consistentHash of a DestinationRule as a HashPolicy of Envoy', () => {
  it.each<[what: string, key: string, policy: string]>([
    ['a header', '{ httpHeaderName: x-user }', '{ header: { header_name: x-user } }'],
    [
      'a cookie that Envoy sets if it is not there',
      '{ httpCookie: { name: user, path: /p, ttl: 90s } }',
      '{ cookie: { name: user, path: /p, ttl: 90s } }',
    ],
    [
      'a cookie of the session',
      '{ httpCookie: { name: user, ttl: 0s } }',
      '{ cookie: { name: user, ttl: 0s } }',
    ],
    ['a cookie of the client', '{ httpCookie: { name: user } }', '{ cookie: { name: user } }'],
    ['an address', '{ useSourceIp: true }', '{ connection_properties: { source_ip: true } }'],
    [
      'a parameter of the query',
      '{ httpQueryParameterName: user }',
      '{ query_parameter: { name: user } }',
    ],
  ])('%s', (_, key, policy) => {
    expect(policyFor(`{ host: a.mesh, trafficPolicy: ${hashBy(key)} }`)).toBe(canonical(policy));
  });

  const rule = `
host: a.mesh
trafficPolicy:
  loadBalancer: { consistentHash: { httpHeaderName: of-all } }
  portLevelSettings:
    - { port: { number: 80 }, loadBalancer: { consistentHash: { httpHeaderName: of-port } } }
    - { port: { number: 81 }, loadBalancer: { simple: RANDOM } }
subsets:
  - name: own
    trafficPolicy:
      loadBalancer: { consistentHash: { httpHeaderName: of-subset } }
      portLevelSettings:
        - { port: { number: 82 }, loadBalancer: { consistentHash: { httpHeaderName: of-both } } }
  - name: plain`;

  it.each<[subset: string, port: number, header: string]>([
    ['', 0, 'of-all'],
    ['', 80, 'of-port'],
    ['', 81, 'of-all'],
    ['own', 0, 'of-subset'],
    ['own', 80, 'of-subset'],
    ['own', 82, 'of-both'],
    ['plain', 80, 'of-port'],
    ['plain', 82, 'of-all'],
  ])('for the subset "%s" and the port %i: %s', (subset, port, header) => {
    expect(policyFor(rule, subset, port)).toBe(canonical(`{ header: { header_name: ${header} } }`));
  });

  it('is none without a rule, and with another balancer', () => {
    expect(hashPolicyOf(undefined, '', 80)).toBeUndefined();
    expect(policyFor('{ host: a.mesh, trafficPolicy: { loadBalancer: { simple: RANDOM } } }')).toBe(
      canonical('none'),
    );
  });
});
