import { describe, expect, it } from 'vitest';
import { readResources } from '../../../../../src/pilot-discovery/istio/documents/read-resources.ts';

const port = '{ number: 80, name: http, protocol: HTTP';

/** Resources with a field that a newer Istio may have, each with its path. */
const served: readonly (readonly [kind: string, spec: string, field: string])[] = [
  [
    'ServiceEntry',
    `{ newer: 1, hosts: [a.mesh], ports: [${port} }], resolution: DNS }`,
    'spec.newer',
  ],
  [
    'ServiceEntry',
    `{ hosts: [a.mesh], ports: [${port}, newer: 1 }], resolution: DNS }`,
    'spec.ports[0].newer',
  ],
  ['WorkloadEntry', '{ address: 10.0.0.1, newer: {} }', 'spec.newer'],
  [
    'VirtualService',
    '{ hosts: [a.mesh], http: [{ newer: [], route: [{ destination: { host: a.mesh } }] }] }',
    'spec.http[0].newer',
  ],
  [
    'DestinationRule',
    '{ host: a.mesh, trafficPolicy: { connectionPool: { http: { newer: 1 } } } }',
    'spec.trafficPolicy.connectionPool.http.newer',
  ],
  ['Sidecar', '{ newer: 1 }', 'spec.newer'],
];
/** Resources with such a field that access depends on. */
const refused: typeof served = [
  ['PeerAuthentication', '{ newer: 1 }', 'spec.newer'],
  ['PeerAuthentication', '{ mtls: { mode: STRICT, newer: 1 } }', 'spec.mtls.newer'],
  [
    'DestinationRule',
    '{ host: a.mesh, trafficPolicy: { tls: { mode: SIMPLE, newer: 1 } } }',
    'spec.trafficPolicy.tls.newer',
  ],
  [
    'DestinationRule',
    '{ host: a.mesh, subsets: [{ name: v, trafficPolicy: { tls: { newer: 1 } } }] }',
    'spec.subsets[0].trafficPolicy.tls.newer',
  ],
];

function read(kind: string, spec: string) {
  const group = kind === 'PeerAuthentication' ? 'security' : 'networking';
  const text = `apiVersion: ${group}.istio.io/v1\nkind: ${kind}\nmetadata: { name: a }\nspec: ${spec}\n`;
  return readResources(text, { source: 'files', path: 'f.yaml', defaultNamespace: 'default' });
}

describe('a field that nobody knows', () => {
  it.each(served)('of a %s is named, and the rest is served: %s', (kind, spec, field) => {
    const { resources, flaws } = read(kind, spec);
    expect(flaws).toEqual([
      expect.objectContaining({ field, severity: 'warning', reason: 'there is no such field' }),
    ]);
    expect(resources).toHaveLength(1);
  });

  it.each(refused)(
    'of a %s costs the resource if access depends on it: %s',
    (kind, spec, field) => {
      const { resources, flaws } = read(kind, spec);
      expect(flaws[0]).toMatchObject({ field, severity: 'error' });
      expect(resources).toEqual([]);
    },
  );
});
