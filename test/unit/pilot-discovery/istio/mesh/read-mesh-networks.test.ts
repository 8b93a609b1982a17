import { describe, expect, it } from 'vitest';
import { readMeshNetworks } from '../../../../../src/pilot-discovery/istio/mesh/read-mesh-networks.ts';

const read = (text: string) => readMeshNetworks(text, 'networks.yaml');
const withNetwork = (network: string) => `networks:\n  one:\n    ${network}\n`;

describe('MeshNetworks', () => {
  it('has the gateways by network, address and port, and the ranges in their order', () => {
    const { networks, flaws } = read(`
networks:
  two:
    endpoints: [{ fromCidr: 10.2.0.0/16 }, { fromRegistry: Kubernetes }]
    gateways: [{ address: 2.2.2.2, port: 15443 }, { address: 2.2.2.1, port: 15443 }, { registryServiceName: Gate.a.svc.cluster.local, port: 443 }]
  one:
    gateways: [{ address: "2001:DB8::1", port: 15443 }]
`);
    const declaredBy = 'MeshNetworks';
    expect(flaws).toEqual([]);
    expect(networks).toEqual({
      gateways: [
        { network: 'one', address: '2001:db8::1', port: 15_443, declaredBy },
        { network: 'two', address: '2.2.2.1', port: 15_443, declaredBy },
        { network: 'two', address: '2.2.2.2', port: 15_443, declaredBy },
      ],
      ranges: [
        { network: 'two', selects: { range: '10.2.0.0/16' } },
        { network: 'two', selects: 'cluster' },
      ],
      services: [{ network: 'two', host: 'gate.a.svc.cluster.local', port: 443 }],
    });
  });

  it.each([
    ['', []],
    ['networks: {}', []],
    [
      withNetwork('endpoints: [{ fromCidr: 10.0.0.0 }]'),
      [
        "3 error networks.one.endpoints[0].fromCidr: '10.0.0.0' is not a range of addresses (such as 10.0.0.0/8)",
        '3 error networks.one.endpoints[0]: it is empty: fromCidr (such as 10.0.0.0/8) or fromRegistry is needed',
      ],
    ],
    [
      withNetwork('endpoints: [{}]'),
      [
        '3 error networks.one.endpoints[0]: it is empty: fromCidr (such as 10.0.0.0/8) or fromRegistry is needed',
      ],
    ],
    [
      withNetwork('endpoints: [{ fromRegistry: east }]'),
      [
        "3 warning networks.one.endpoints[0].fromRegistry: 'east' has no effect: the only cluster is 'Kubernetes'",
      ],
    ],
    [
      withNetwork('gateways: [{ address: gate.example, port: 15443 }]'),
      [
        "3 warning networks.one.gateways[0].address: 'gate.example' has no effect: it is not an IP address, and names are not resolved",
      ],
    ],
    [
      withNetwork('gateways: [{ address: 1.1.1.1 }]'),
      ['3 error networks.one.gateways[0]: its port is missing'],
    ],
    [
      withNetwork('gateways: [{ registryServiceName: gate.istio-system.svc, port: 15443 }]'),
      [
        "3 warning networks.one.gateways: a registryServiceName has no effect in a network without 'fromRegistry: Kubernetes' in endpoints",
      ],
    ],
    [
      withNetwork('gateways: [{ registryServiceName: a.b, address: 1.1.1.1, port: 1 }]'),
      [
        '3 error networks.one.gateways[0]: it has address and registryServiceName: give one of them',
        "3 warning networks.one.gateways: a registryServiceName has no effect in a network without 'fromRegistry: Kubernetes' in endpoints",
      ],
    ],
    [
      withNetwork('gatewys: []'),
      ['3 error networks.one.gatewys: there is no such field: did you mean gateways?'],
    ],
  ])('%j has the flaws %j', (text, flaws) => {
    expect(
      read(text).flaws.map(
        ({ origin, severity, field, reason }) => `${origin.line} ${severity} ${field}: ${reason}`,
      ),
    ).toEqual(flaws);
  });
});
