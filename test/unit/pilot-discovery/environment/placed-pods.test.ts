import { describe, expect, it } from 'vitest';
import { buildEnvironment } from '../../../../src/pilot-discovery/environment/build-environment.ts';
import { emptyStore, reduceStore } from '../../../../src/pilot-discovery/environment/store.ts';
import type { Environment } from '../../../../src/pilot-discovery/environment/environment.ts';
import { keyOf } from '../../../../src/pilot-discovery/istio/documents/model.ts';
import { readResources } from '../../../../src/pilot-discovery/istio/documents/read-resources.ts';

const service = `
apiVersion: v1
kind: Service
metadata: { name: web, namespace: shop }
spec: { selector: { app: web }, ports: [{ name: http, port: 80 }] }
`;
const pod = (name: string, address: string, labels = '') => `
apiVersion: v1
kind: Pod
metadata: { name: ${name}, namespace: shop, labels: { app: web${labels} } }
spec: { nodeName: one, containers: [] }
status: { podIP: ${address} }
`;
const slice = `
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { name: web-1, namespace: shop, labels: { kubernetes.io/service-name: web } }
addressType: IPv4
ports: [{ name: http, port: 80 }]
endpoints:
  - { addresses: [10.0.0.1], targetRef: { kind: Pod, name: a } }
  - { addresses: [10.0.0.2], targetRef: { kind: Pod, name: b } }
`;
const node = (labels: string) => `
apiVersion: v1
kind: Node
metadata: { name: one, labels: { ${labels} } }
`;
const place = { source: 'files', path: 'f.yaml', defaultNamespace: 'default' };

/** Returns the localities of the endpoints after each step, a text or a removal. */
function localities(...steps: readonly (string | { readonly removes: string })[]) {
  let store = emptyStore(['files']);
  let environment: Environment | undefined;
  return steps.map((step) => {
    const event =
      typeof step === 'string'
        ? { upserts: readResources(step, place).resources, removes: [] }
        : { upserts: [], removes: [step.removes] };
    const [next, changes] = reduceStore(store, { type: 'changed', source: 'files', ...event });
    store = next;
    environment = buildEnvironment(environment, store, changes, 'cluster.local', 'all');
    const whole = buildEnvironment(undefined, store, changes, 'cluster.local', 'all');
    expect([...environment.endpoints]).toEqual([...whole.endpoints]);
    const endpoints = environment.endpoints.get('shop/web.shop.svc.cluster.local')?.get(80) ?? [];
    return endpoints.map(({ locality }) => locality).join();
  });
}

describe('the locality of a Pod', () => {
  const all = [service, slice, pod('a', '10.0.0.1'), pod('b', '10.0.0.2')].join('---');

  it('is that of the labels of its Node, and follows them', () => {
    expect(
      localities(
        all,
        node('topology.kubernetes.io/region: r, topology.kubernetes.io/zone: z'),
        node('topology.kubernetes.io/zone: y, topology.istio.io/subzone: s'),
        node('failure-domain.beta.kubernetes.io/region: old'),
        node('kubernetes.io/os: linux'),
        node('topology.kubernetes.io/region: r'),
        { removes: keyOf({ kind: 'Node', namespace: '', name: 'one' }) },
      ),
    ).toEqual([',', 'r/z/,r/z/', '/y/s,/y/s', 'old//,old//', ',', 'r//,r//', ',']);
  });

  it('is that of its own label first', () => {
    const labelledPod = pod('a', '10.0.0.1', ', istio-locality: x.y.z');
    expect(
      localities([all, node('topology.kubernetes.io/region: r')].join('---'), labelledPod),
    ).toEqual(['r//,r//', 'x/y/z,r//']);
  });
});
