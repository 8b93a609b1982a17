import { describe, expect, it } from 'vitest';
import { visibleServices } from '../../../../../src/pilot-discovery/generate/scope/visible-services.ts';
import { environmentOf, proxyAt } from '../../../../support/generated.ts';

const entry = (name: string, resolution: string, port: number, created: string, namespace = 'a') =>
  `apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: ${name}, namespace: ${namespace}${created === '' ? '' : `, creationTimestamp: "${created}"`} }
spec: { hosts: [x.test], resolution: ${resolution}, ports: [{ number: ${port}, name: http-${port}, protocol: HTTP }] }
`;
const [older, newer] = ['2024-01-01T00:00:00Z', '2024-01-02T00:00:00Z'];

describe('the entries of a host with different resolutions', () => {
  it.each<
    [which: string, entries: readonly string[], resolution: string, ports: readonly number[]]
  >([
    [
      'are those of the resolution of the oldest',
      [
        entry('p', 'DNS', 81, newer),
        entry('q', 'STATIC', 80, older),
        entry('r', 'STATIC', 82, newer),
      ],
      'static',
      [80, 82],
    ],
    [
      'are those of the first name if none is older',
      [entry('q', 'STATIC', 80, ''), entry('p', 'DNS', 81, '')],
      'dns',
      [81],
    ],
    [
      'are those of the first namespace if none is older',
      [entry('p', 'STATIC', 80, '', 'c'), entry('q', 'DNS', 81, '', 'b')],
      'dns',
      [81],
    ],
    [
      'are those of the namespace of the proxy, even if they are newer',
      [entry('p', 'STATIC', 80, older, 'b'), entry('q', 'DNS', 81, newer, 'default')],
      'dns',
      [81],
    ],
  ])('%s', (_, entries, resolution, ports) => {
    for (const order of [entries, entries.toReversed()]) {
      const service = visibleServices(environmentOf(order.join('---\n')), proxyAt()).get('x.test');
      expect(service?.resolution).toBe(resolution);
      expect(service?.ports.map(({ number }) => number).sort()).toEqual(ports);
    }
  });
});
