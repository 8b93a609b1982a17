import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { withWorkload } from '../../../../../src/pilot-discovery/generate/scope/with-workload.ts';
import { canonical, proxyIn, resourceText } from '../../../../support/golden.ts';
import { environmentOf } from '../../../../support/generated.ts';

const proxy = proxyIn('{ LABELS: { app: app, rack: "1" }, INSTANCE_IPS: "10.0.0.1,10.0.0.2" }', {
  locality: 'us/east/a',
});

const entry = (name: string, spec: string) => resourceText('WorkloadEntry', name, spec);
/** Returns a service that contains its endpoint. */
const inline = (name: string, endpoint: string, metadata = {}) =>
  resourceText(
    'ServiceEntry',
    name,
    `{ hosts: [${name}.mesh], resolution: STATIC, ports: [{ number: 80, name: http }], endpoints: [${endpoint}] }`,
    metadata,
  );
const selecting = resourceText(
  'ServiceEntry',
  'vms',
  '{ hosts: [vms.mesh], resolution: STATIC, ports: [{ number: 80, name: http }], workloadSelector: { labels: { app: vm } } }',
);

const itself = '{ labels: { app: app, rack: "1" }, locality: us/east/a }';
/** The label that each endpoint has. */
const cluster = 'topology.istio.io/cluster: Kubernetes';
const vm = '{ address: 10.0.0.1, labels: { app: vm }, locality: eu/north/b }';

describe('the labels and the locality of a proxy', () => {
  it.each<[what: string, yaml: readonly string[], expected: string]>([
    ['are its own if nothing is at its address', [entry('a', vm.replace('0.1', '0.9'))], itself],
    [
      'are those of the WorkloadEntry at its address',
      [entry('a', vm)],
      '{ labels: { app: vm }, locality: eu/north/b }',
    ],
    [
      'are those of a WorkloadEntry at its second address',
      [entry('a', vm.replace('0.1', '0.2'))],
      '{ labels: { app: vm }, locality: eu/north/b }',
    ],
    [
      'are its own as far as a WorkloadEntry says none',
      [entry('a', '{ address: 10.0.0.1 }')],
      itself,
    ],
    [
      'are those of the endpoint that a ServiceEntry has at its address',
      [inline('a', '{ address: 10.0.0.1, labels: { rack: "9" }, locality: eu/north/b }')],
      `
labels:
  rack: "9"
  topology.istio.io/cluster: Kubernetes
  topology.istio.io/subzone: b
  topology.kubernetes.io/region: eu
  topology.kubernetes.io/zone: north
locality: eu/north/b`,
    ],
    [
      'are its own locality and no label of its own if that endpoint has none',
      [inline('a', '{ address: 10.0.0.1 }')],
      `{ labels: { ${cluster} }, locality: us/east/a }`,
    ],
    [
      'are those of the first ServiceEntry by name',
      [
        inline('b', '{ address: 10.0.0.1, labels: { rack: "8" } }', {
          creationTimestamp: '2020-01-01T00:00:00Z',
        }),
        inline('a', '{ address: 10.0.0.1, labels: { rack: "9" } }', {
          creationTimestamp: '2021-01-01T00:00:00Z',
        }),
      ],
      `{ labels: { rack: "9", ${cluster} }, locality: us/east/a }`,
    ],
    [
      'are those of an endpoint before those of a WorkloadEntry that no service selects',
      [inline('a', '{ address: 10.0.0.1, labels: { rack: "9" } }'), entry('a', vm)],
      `{ labels: { rack: "9", ${cluster} }, locality: us/east/a }`,
    ],
    [
      'are those of a WorkloadEntry that a service selects before those of an endpoint',
      [inline('a', '{ address: 10.0.0.1, labels: { rack: "9" } }'), entry('a', vm), selecting],
      '{ labels: { app: vm }, locality: eu/north/b }',
    ],
    [
      'are its own if what is at its address is of another namespace',
      [
        inline('a', '{ address: 10.0.0.1, labels: { rack: "9" } }', { namespace: 'other' }),
        resourceText('WorkloadEntry', 'a', vm, { namespace: 'other' }),
      ],
      itself,
    ],
  ])('%s', (_, yaml, expected) => {
    const { labels, locality } = withWorkload(environmentOf(yaml.join('---\n')), proxy);
    expect(stringify({ labels, locality }, { sortMapEntries: true })).toBe(canonical(expected));
  });

  it('are those of the same object if nothing is at its address', () => {
    expect(withWorkload(environmentOf(''), proxy)).toBe(proxy);
  });
});
