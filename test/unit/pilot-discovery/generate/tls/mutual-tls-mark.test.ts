import { describe, expect, it } from 'vitest';
import {
  mutualTlsMark,
  disablingPolicies,
} from '../../../../../src/pilot-discovery/generate/tls/mutual-tls-mark.ts';
import { destinationRuleOf } from '../../../../../src/pilot-discovery/generate/scope/destination-rule-of.ts';
import { proxyIn, resourceText } from '../../../../support/golden.ts';
import { environmentOf } from '../../../../support/generated.ts';

/** A service with a workload that can do mutual TLS (`meshed`) and one that cannot. */
const service = `${resourceText(
  'ServiceEntry',
  'a',
  '{ hosts: [a.mesh], resolution: STATIC, location: MESH_INTERNAL, ports: [{ number: 80, name: http, protocol: HTTP, targetPort: 8080 }], workloadSelector: { labels: { app: a } } }',
)}---
${resourceText('WorkloadEntry', 'meshed', '{ address: 10.0.0.2, labels: { app: a, v: "1" }, serviceAccount: a }')}---
${resourceText('WorkloadEntry', 'other', '{ address: 10.0.0.3, labels: { app: a, security.istio.io/tlsMode: disabled } }')}`;

/**
 * Returns the workloads of the endpoints that proxies connect to by mutual TLS, at port 80 and in a
 * subset.
 */
function askedWith(more: string, subset = ''): readonly string[] {
  const environment = environmentOf(`${service}---\n${more}`);
  const rule = destinationRuleOf(environment, proxyIn(''), {
    host: 'a.mesh',
    namespace: 'default',
  });
  const named = rule?.spec.subsets.find(({ name }) => name === subset);
  const asksForMutualTls = mutualTlsMark(environment, rule, 80, named);
  return (environment.endpoints.get('default/a.mesh')?.get(80) ?? [])
    .filter(asksForMutualTls)
    .map(({ workloadName }) => workloadName);
}

const rule = (spec: string) => resourceText('DestinationRule', 'a', `{ host: a.mesh, ${spec} }`);
const peers = (spec: string, metadata = {}) =>
  resourceText('PeerAuthentication', 'p', spec, metadata);

describe('the endpoints that are asked for mutual TLS', () => {
  it.each<[what: string, more: string, workloads: readonly string[]]>([
    ['those that can do it', '', ['meshed']],
    ['with ISTIO_MUTUAL', rule('trafficPolicy: { tls: { mode: ISTIO_MUTUAL } }'), ['meshed']],
    ['none with DISABLE', rule('trafficPolicy: { tls: { mode: DISABLE } }'), []],
    ['none with TLS that is not of the mesh', rule('trafficPolicy: { tls: { mode: SIMPLE } }'), []],
    [
      'none with DISABLE at the port',
      rule(
        'trafficPolicy: { tls: { mode: ISTIO_MUTUAL }, portLevelSettings: [{ port: { number: 80 }, tls: { mode: DISABLE } }] }',
      ),
      [],
    ],
    [
      'those that can, whatever holds for another port',
      rule(
        'trafficPolicy: { portLevelSettings: [{ port: { number: 81 }, tls: { mode: DISABLE } }] }',
      ),
      ['meshed'],
    ],
    [
      'none with DISABLE of all, if the port says nothing of TLS',
      rule(
        'trafficPolicy: { tls: { mode: DISABLE }, portLevelSettings: [{ port: { number: 80 }, loadBalancer: { simple: RANDOM } }] }',
      ),
      [],
    ],
    ['none if the namespace takes none', peers('{ mtls: { mode: DISABLE } }'), []],
    [
      'none if the mesh takes none',
      peers('{ mtls: { mode: DISABLE } }', { namespace: 'istio-system' }),
      [],
    ],
    [
      'none if the workload takes none',
      peers('{ selector: { matchLabels: { v: "1" } }, mtls: { mode: DISABLE } }'),
      [],
    ],
    [
      'those of other workloads',
      peers('{ selector: { matchLabels: { v: "2" } }, mtls: { mode: DISABLE } }'),
      ['meshed'],
    ],
    [
      'none if the port of the workload takes none',
      peers(
        '{ selector: { matchLabels: { v: "1" } }, portLevelMtls: { 8080: { mode: DISABLE } } }',
      ),
      [],
    ],
    [
      'those that can, if another port of the workload takes none',
      peers('{ selector: { matchLabels: { v: "1" } }, portLevelMtls: { 80: { mode: DISABLE } } }'),
      ['meshed'],
    ],
    [
      'those that can with ISTIO_MUTUAL, whatever the namespace takes',
      `${rule('trafficPolicy: { tls: { mode: ISTIO_MUTUAL } }')}---\n${peers('{ mtls: { mode: DISABLE } }')}`,
      ['meshed'],
    ],
  ])('%s', (_, more, workloads) => {
    expect(askedWith(more)).toEqual(workloads);
  });

  it('are those that its own rule means in a subset', () => {
    const subsets = rule(
      'trafficPolicy: { tls: { mode: DISABLE } }, subsets: [{ name: own, labels: { app: a }, trafficPolicy: { tls: { mode: ISTIO_MUTUAL } } }, { name: plain, labels: { app: a } }]',
    );
    expect(askedWith(subsets)).toEqual([]);
    expect(askedWith(subsets, 'own')).toEqual(['meshed']);
    expect(askedWith(subsets, 'plain')).toEqual(['meshed']);
  });
});

it('a policy counts for clusters if it disables mutual TLS somewhere', () => {
  const disabling = (spec: string) => disablingPolicies(environmentOf(peers(spec))) !== undefined;
  expect(disabling('{ mtls: { mode: STRICT } }')).toBe(false);
  expect(disabling('{ mtls: { mode: DISABLE } }')).toBe(true);
  expect(
    disabling(
      '{ selector: { matchLabels: { v: "1" } }, portLevelMtls: { 80: { mode: DISABLE } } }',
    ),
  ).toBe(true);
});
