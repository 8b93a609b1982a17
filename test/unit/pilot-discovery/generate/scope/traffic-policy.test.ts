import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import {
  policyFor,
  proxyProtocolFor,
  retryBudgetFor,
} from '../../../../../src/pilot-discovery/generate/scope/traffic-policy.ts';
import { readResources } from '../../../../../src/pilot-discovery/istio/documents/read-resources.ts';
import { canonical, resourceText, specIn } from '../../../../support/golden.ts';

const rule = specIn(
  'DestinationRule',
  `
host: a.mesh
trafficPolicy:
  loadBalancer: { simple: RANDOM }
  tls: { mode: DISABLE }
  outlierDetection: { interval: 5s }
  portLevelSettings:
    - { port: { number: 80 }, loadBalancer: { simple: ROUND_ROBIN } }
subsets:
  - { name: plain }
  - name: own
    trafficPolicy:
      loadBalancer: { simple: PASSTHROUGH }
      portLevelSettings:
        - { port: { number: 82 }, tls: { mode: SIMPLE } }`,
);

/** Returns the parts of a policy, each in short form. */
function policyAt(port: number, subset = ''): string {
  const { loadBalancer, tls, outlierDetection } = policyFor(rule, port, subset);
  return stringify(
    {
      ...(loadBalancer !== undefined && { balancer: loadBalancer.policy.type }),
      ...(tls !== undefined && { tls: tls.mode }),
      ...(outlierDetection !== undefined && { outliers: outlierDetection.intervalMs }),
    },
    { sortMapEntries: true },
  );
}

describe('what a DestinationRule says of a port and a subset', () => {
  it.each<[port: number, subset: string, policy: string]>([
    [81, '', '{ balancer: random, tls: disable, outliers: 5000 }'],
    // The settings of a port replace the whole policy that contains them.
    [80, '', '{ balancer: round-robin }'],
    [81, 'plain', '{ balancer: random, tls: disable, outliers: 5000 }'],
    [80, 'plain', '{ balancer: round-robin }'],
    // A subset inherits the parts that it does not set.
    [81, 'own', '{ balancer: passthrough, tls: disable, outliers: 5000 }'],
    [80, 'own', '{ balancer: passthrough }'],
    [82, 'own', '{ tls: simple }'],
    [81, 'unknown', '{ balancer: random, tls: disable, outliers: 5000 }'],
  ])('port %i, subset "%s": %s', (port, subset, policy) => {
    expect(policyAt(port, subset)).toBe(canonical(policy));
  });

  it('is in the first settings of a port, as in istiod, and a warning names the others', () => {
    const settings = ['RANDOM', 'ROUND_ROBIN'].map(
      (simple) => `{ port: { number: 80 }, loadBalancer: { simple: ${simple} } }`,
    );
    const { resources, flaws } = readResources(
      resourceText(
        'DestinationRule',
        'a',
        `{ host: a.mesh, trafficPolicy: { portLevelSettings: [${settings.join(', ')}] } }`,
      ),
      { source: 'test', path: 'test.yaml', defaultNamespace: 'default' },
    );
    const [twice] = resources;
    if (twice?.kind !== 'DestinationRule') throw new Error('it is refused');
    expect(policyFor(twice.spec, 80, '').loadBalancer?.policy.type).toBe('random');
    expect(flaws).toMatchObject([
      {
        field: 'spec.trafficPolicy.portLevelSettings[1].port.number',
        reason: '80 is there twice: only the first settings apply',
        severity: 'warning',
      },
    ]);
  });

  it('is nothing without a rule', () => {
    expect(
      Object.values(policyFor(undefined, 80, undefined)).filter((part) => part !== undefined),
    ).toEqual([]);
  });
});

describe('the PROXY protocol of a port and a subset', () => {
  const headed = specIn(
    'DestinationRule',
    `
host: a.mesh
trafficPolicy:
  proxyProtocol: { version: V2 }
  portLevelSettings: [{ port: { number: 81 }, loadBalancer: { simple: RANDOM } }]
subsets:
  - { name: plain }
  - { name: first, trafficPolicy: { proxyProtocol: {} } }
  - name: ports
    trafficPolicy:
      loadBalancer: { simple: RANDOM }
      portLevelSettings: [{ port: { number: 80 }, loadBalancer: { simple: RANDOM } }]`,
  );

  it.each([
    [80, '', 'V2'],
    // The settings of a port have no PROXY protocol.
    [81, '', undefined],
    [80, 'plain', 'V2'],
    [80, 'first', 'V1'],
    [81, 'first', 'V1'],
    [80, 'ports', 'V2'],
    [81, 'ports', undefined],
  ])('port %i, subset "%s": %s', (port, subset, version) => {
    expect(proxyProtocolFor(headed, port, subset)).toBe(version);
  });

  it('is none without a rule', () => {
    expect(proxyProtocolFor(undefined, 80, '')).toBeUndefined();
  });
});

it('a retry budget is that of the subset, else that of the host', () => {
  const spec = specIn(
    'DestinationRule',
    `
host: a.mesh
trafficPolicy: { retryBudget: { percent: 12.5, minRetryConcurrency: 7 } }
subsets: [{ name: plain }, { name: own, trafficPolicy: { retryBudget: {} } }]`,
  );
  const whole = { percent: 12.5, least: 7 };
  expect(['', 'plain', 'own'].map((subset) => retryBudgetFor(spec, subset))).toEqual([
    whole,
    whole,
    { percent: 20, least: 3 },
  ]);
  expect(retryBudgetFor(undefined, '')).toBeUndefined();
});
