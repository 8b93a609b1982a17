import { describe, expect, it } from 'vitest';
import { endpointView } from '../../../../../src/pilot-discovery/generate/endpoints/endpoints.ts';
import { readMeshNetworks } from '../../../../../src/pilot-discovery/istio/mesh/read-mesh-networks.ts';
import { ClusterLoadAssignmentSchema } from '../../../../../src/shared/proto/envoy/config/endpoint/v3/endpoint_pb.ts';
import { proxyIn, resourcesYaml, replacing, canonical } from '../../../../support/golden.ts';
import { endpointsOf, environmentOf } from '../../../../support/generated.ts';

const meshNetworks = (text: string) => readMeshNetworks(text, 'networks.yaml').networks;
const gateways = meshNetworks(`
networks:
  near: { gateways: [{ address: 1.1.1.1, port: 15443 }] }
  far: { gateways: [{ address: 2.2.2.1, port: 15443 }, { address: 2.2.2.2, port: 15443 }] }
`);
const pods = `
apiVersion: v1
kind: Service
metadata: { name: a, namespace: default }
spec: { selector: { app: a }, ports: [{ port: 80, name: http }] }
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { name: a, namespace: default, labels: { kubernetes.io/service-name: a } }
addressType: IPv4
ports: [{ name: http, port: 80 }]
endpoints:
  - { addresses: [10.2.0.1], targetRef: { kind: Pod, name: a-1 } }
  - { addresses: [10.3.0.1], targetRef: { kind: Pod, name: a-2 } }
---
apiVersion: v1
kind: Pod
metadata: { name: a-1, namespace: default, labels: { app: a, security.istio.io/tlsMode: istio } }
status: { podIP: 10.2.0.1 }
---
apiVersion: v1
kind: Pod
metadata: { name: a-2, namespace: default, labels: { app: a, security.istio.io/tlsMode: istio, topology.istio.io/network: near } }
status: { podIP: 10.3.0.1 }
`;
const entries = `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: a, namespace: default }
spec:
  hosts: [a.mesh]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{ number: 80, name: http }]
  endpoints:
    - { address: 10.2.0.1, network: near, serviceAccount: x, weight: 3 }
    - { network: far, serviceAccount: x, weight: 5 }
    - { address: 10.2.0.3, network: far }
    - { network: unknown, serviceAccount: x }
`;

const weights = replacing('endpoints', (localities) =>
  (localities as readonly { readonly lb_endpoints?: readonly object[] }[]).flatMap(
    ({ lb_endpoints: all = [] }) =>
      [...JSON.stringify(all).matchAll(/"address":"([^"]+)".*?"load_balancing_weight":(\d+)/g)].map(
        ([, address, weight]) => `${address ?? ''} ${weight ?? ''}`,
      ),
  ),
);

const seenFrom = (metadata: string, yaml: string, networks = gateways) =>
  resourcesYaml(
    ClusterLoadAssignmentSchema,
    endpointsOf(environmentOf(yaml, { networks }), proxyIn(metadata)),
    weights,
  );
const assignment = (name: string, endpoints: string) =>
  canonical(`\n${name}: { cluster_name: "${name}", endpoints: ${endpoints} }`);

describe('endpoints in several networks', () => {
  it.each([
    ['{ NETWORK: near }', '[10.2.0.1 6, 2.2.2.1 5, 2.2.2.2 5]'],
    ['{ NETWORK: far }', '[10.2.0.3 2, 1.1.1.1 6]'],
    ['', '[10.2.0.1 6, 10.2.0.3 2]'],
    ['{ NETWORK: near, REQUESTED_NETWORK_VIEW: near }', '[10.2.0.1 6]'],
  ])('are, for a proxy with %s, %s', (metadata, endpoints) => {
    expect(seenFrom(metadata, entries)).toBe(assignment('outbound|80||a.mesh', endpoints));
  });

  it('are found by the ranges of networks, if they are of Kubernetes and name no network', () => {
    const ranged = meshNetworks(`
networks:
  far: { endpoints: [{ fromCidr: 10.0.0.0/8 }], gateways: [{ address: 2.2.2.2, port: 15443 }] }
`);
    const name = 'outbound|80||a.default.svc.cluster.local';
    expect(seenFrom('{ NETWORK: near }', pods, ranged)).toBe(
      assignment(name, '[10.3.0.1 1, 2.2.2.2 1]'),
    );
    const cluster = meshNetworks(`
networks:
  far: { endpoints: [{ fromRegistry: Kubernetes }], gateways: [{ address: 2.2.2.2, port: 15443 }] }
`);
    expect(seenFrom('{ NETWORK: near }', pods, cluster)).toBe(
      assignment(name, '[10.3.0.1 1, 2.2.2.2 1]'),
    );
    const entry = entries.replace(
      /    - [^]*$/,
      '    - { address: 10.2.0.1, serviceAccount: x }\n',
    );
    for (const networks of [ranged, cluster])
      expect(seenFrom('{ NETWORK: near }', entry, networks)).toBe(
        assignment('outbound|80||a.mesh', '[10.2.0.1 1]'),
      );
  });

  it('are the same view for proxies of two networks, if there are no gateways', () => {
    const environment = environmentOf(entries);
    const [near, far] = ['near', 'far'].map((network) =>
      endpointView(environment, proxyIn(`{ NETWORK: ${network} }`)),
    );
    expect(near).toBe(far);
  });
});
