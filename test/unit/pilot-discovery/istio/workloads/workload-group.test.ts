import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { readResources } from '../../../../../src/pilot-discovery/istio/documents/read-resources.ts';
import { canonical, resourceText } from '../../../../support/golden.ts';
import { clustersOf, endpointsOf, environmentOf, proxyAt } from '../../../../support/generated.ts';

const whole = `
metadata:
  labels: { app: reviews, version: v1 }
  annotations: { note: a }
template:
  ports: { http: 8080 }
  labels: { zone: z }
  network: vm
  locality: r/z/s
  weight: 3
  serviceAccount: reviews
probe:
  initialDelaySeconds: 1
  timeoutSeconds: 2
  periodSeconds: 3
  successThreshold: 4
  failureThreshold: 5
  httpGet: { path: /ready, port: 8080, scheme: HTTPS, httpHeaders: [{ name: x-a, value: b }] }
`;

/** Returns the spec as it was read; it always has a warning. */
function readIn(spec: string): unknown {
  const place = { source: 'test', path: 'test.yaml', defaultNamespace: 'default' };
  const { resources, flaws } = readResources(resourceText('WorkloadGroup', 'g', spec), place);
  expect(flaws.map(({ severity }) => severity)).toEqual(['warning']);
  return resources[0]?.spec;
}

describe('a WorkloadGroup', () => {
  it.each<[what: string, spec: string, read: string]>([
    [
      'with all fields',
      whole,
      `
labels: { app: reviews, version: v1 }
template:
  address: ""
  ports: { http: 8080 }
  labels: { zone: z }
  network: vm
  locality: r/z/s
  weight: 3
  serviceAccount: reviews
probe: { method: httpGet, initialDelay: 1, timeout: 2, period: 3, successes: 4, failures: 5 }`,
    ],
    [
      'with a template alone',
      'template: {}',
      `
labels: {}
template: { address: "", ports: {}, labels: {}, network: "", locality: "", weight: 0, serviceAccount: "" }`,
    ],
  ])('%s is read', (_, spec, read) => {
    expect(stringify(readIn(spec), { sortMapEntries: true })).toBe(canonical(read));
  });

  it('is no endpoint of a service that selects its labels', () => {
    const entry = resourceText(
      'ServiceEntry',
      'a',
      '{ hosts: [a.mesh], resolution: STATIC, ports: [{ number: 80, name: http, protocol: HTTP }], workloadSelector: { labels: { app: reviews } } }',
    );
    const [without, beside] = [entry, `${entry}---\n${resourceText('WorkloadGroup', 'g', whole)}`];
    for (const received of [clustersOf, endpointsOf])
      expect(received(environmentOf(beside), proxyAt())).toEqual(
        received(environmentOf(without), proxyAt()),
      );
  });
});
