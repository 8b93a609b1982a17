import { describe, expect, it } from 'vitest';
import { environmentOf } from '../../../support/generated.ts';
import { readMeshNetworks } from '../../../../src/pilot-discovery/istio/mesh/read-mesh-networks.ts';

const { networks } = readMeshNetworks(
  `
networks:
  east:
    endpoints: [{ fromRegistry: Kubernetes }]
    gateways:
      - { registryServiceName: gate.istio-system.svc.cluster.local, port: 443 }
      - { address: 192.0.2.9, port: 443 }
`,
  'networks.yaml',
);

/** Returns a Service `gate` with these labels and this rest of its spec. */
const gate = (labels: string, spec: string, status = '') => `
apiVersion: v1
kind: Service
metadata: { name: gate, namespace: istio-system, labels: { ${labels} } }
spec: { ports: [{ name: tls, port: 443 }], ${spec} }
${status}`;
const balanced = 'status: { loadBalancer: { ingress: [{ ip: 192.0.2.1 }, { hostname: a.b }] } }';
const gatewaysOf = (yaml: string) =>
  environmentOf(yaml, { networks }).networks.gateways.map(
    ({ network, address, port, declaredBy }) => `${network} ${address}:${port} ${declaredBy}`,
  );
const written = 'east 192.0.2.9:443 MeshNetworks';

describe('gateways of networks that are Services', () => {
  it.each([
    {
      what: 'MeshNetworks names it: by its load balancer and its externalIPs',
      yaml: gate('a: b', 'type: LoadBalancer, externalIPs: ["2001:DB8::1"]', balanced),
      gateways: ['east 192.0.2.1:443 Service', written, 'east 2001:db8::1:443 Service'],
    },
    {
      what: 'its label is a network: on the port for other networks',
      yaml: gate('topology.istio.io/network: west', 'type: LoadBalancer', balanced),
      gateways: [written, 'west 192.0.2.1:15443 Service'],
    },
    {
      what: 'another label names the port',
      yaml: gate(
        'topology.istio.io/network: west, networking.istio.io/gatewayPort: "8443"',
        'externalIPs: [192.0.2.2]',
      ),
      gateways: [written, 'west 192.0.2.2:8443 Service'],
    },
    {
      what: 'the label of the port is none',
      yaml: gate(
        'topology.istio.io/network: west, networking.istio.io/gatewayPort: "70000"',
        'externalIPs: [192.0.2.2]',
      ),
      gateways: [written, 'west 192.0.2.2:15443 Service'],
    },
    {
      what: 'the address is there twice: once',
      yaml: gate('a: b', 'externalIPs: [192.0.2.9]'),
      gateways: [written],
    },
    {
      what: 'it has no external address, or a load balancer of before',
      yaml: gate('topology.istio.io/network: west', 'type: ClusterIP', balanced),
      gateways: [written],
    },
  ])('$what', ({ yaml, gateways }) => {
    expect(gatewaysOf(yaml)).toEqual(gateways);
  });

  it('stay the same object if a Service that is none of them changes', () => {
    const labelled = gate('topology.istio.io/network: west', 'externalIPs: [192.0.2.2]');
    const other = (label: string) =>
      gate(label, 'externalIPs: [192.0.2.3]').replace('name: gate', 'name: other');
    const before = environmentOf(`${labelled}---${other('a: b')}`, { networks });
    const now = environmentOf(`${labelled}---${other('a: c')}`, { networks, before });
    expect(now.externalServices).not.toBe(before.externalServices);
    expect(now.networks).toBe(before.networks);
  });
});
