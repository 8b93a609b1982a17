import { describe, expect, it } from 'vitest';
import {
  endpointsWith,
  loadAssignment,
} from '../../../../../src/pilot-discovery/generate/endpoints/load-assignment.ts';
import { localityPolicyOf } from '../../../../../src/pilot-discovery/generate/scope/locality-policy.ts';
import { policyFor } from '../../../../../src/pilot-discovery/generate/scope/traffic-policy.ts';
import { defaultMeshConfig } from '../../../../../src/pilot-discovery/istio/mesh/mesh-config.ts';
import { ClusterLoadAssignmentSchema } from '../../../../../src/shared/proto/envoy/config/endpoint/v3/endpoint_pb.ts';
import { canonical, messageYaml, proxyIn, resourceText } from '../../../../support/golden.ts';
import { environmentOf } from '../../../../support/generated.ts';

/** Returns the endpoints of port 80 of a service. */
function endpointsIn(endpoints: string) {
  const spec = `{ hosts: [a.mesh], resolution: STATIC, ports: [{ number: 80, name: http }], endpoints: ${endpoints} }`;
  const { endpoints: all } = environmentOf(resourceText('ServiceEntry', 'a', spec));
  return all.get('default/a.mesh')?.get(80) ?? [];
}

const assignmentOf = (endpoints: string, canDoTls: 'all' | 'none' = 'none'): string =>
  messageYaml(
    ClusterLoadAssignmentSchema,
    loadAssignment(
      'outbound|80||a.mesh',
      endpointsIn(endpoints),
      localityPolicyOf(policyFor(undefined, 80, undefined), 'any', defaultMeshConfig),
      proxyIn(''),
      { isMutual: () => canDoTls === 'all', reach: (endpoints) => endpoints },
    ),
  );

describe('an endpoint as a ClusterLoadAssignment of Envoy', () => {
  const workload = (text: string) => `{ filter_metadata: { istio: { workload: ${text} } } }`;
  it.each<[what: string, endpoint: string, envoy: string]>([
    [
      'an address at the port of the service',
      '{ address: 10.0.0.2 }',
      `
      endpoint: { address: { socket_address: { address: 10.0.0.2, port_value: 80 } } }
      metadata: ${workload(';;;;Kubernetes')}
      load_balancing_weight: 1`,
    ],
    [
      'an address at a port of its own, with a weight',
      '{ address: 10.0.0.2, ports: { http: 8080 }, weight: 5 }',
      `
      endpoint: { address: { socket_address: { address: 10.0.0.2, port_value: 8080 } } }
      metadata: ${workload(';;;;Kubernetes')}
      load_balancing_weight: 5`,
    ],
    [
      'a Unix socket',
      '{ address: "unix:///run/a.sock" }',
      `
      endpoint: { address: { pipe: { path: /run/a.sock } } }
      metadata: ${workload(';;;;Kubernetes')}
      load_balancing_weight: 1`,
    ],
    [
      'a workload that its labels name',
      '{ address: 10.0.0.2, labels: { app: shop, version: v1 } }',
      `
      endpoint: { address: { socket_address: { address: 10.0.0.2, port_value: 80 } } }
      metadata: ${workload(';;shop;v1;Kubernetes')}
      load_balancing_weight: 1`,
    ],
    [
      'a workload that the labels of Kubernetes name, before shorter ones',
      '{ address: 10.0.0.2, labels: { app: c, version: c, app.kubernetes.io/name: b, app.kubernetes.io/version: r } }',
      `
      endpoint: { address: { socket_address: { address: 10.0.0.2, port_value: 80 } } }
      metadata: ${workload(';;b;r;Kubernetes')}
      load_balancing_weight: 1`,
    ],
    [
      'a workload that the labels of Istio name, before those of others',
      `{ address: 10.0.0.2, labels: { app: c, version: c, app.kubernetes.io/name: b, app.kubernetes.io/version: b,
        service.istio.io/canonical-name: a, service.istio.io/canonical-revision: r } }`,
      `
      endpoint: { address: { socket_address: { address: 10.0.0.2, port_value: 80 } } }
      metadata: ${workload(';;a;r;Kubernetes')}
      load_balancing_weight: 1`,
    ],
  ])('%s', (_, endpoint, envoy) => {
    expect(assignmentOf(`[${endpoint}]`)).toBe(
      canonical(`
cluster_name: outbound|80||a.mesh
endpoints:
  - locality: {}
    lb_endpoints:
      -${envoy.trimEnd().replaceAll('\n', '\n  ')}
    load_balancing_weight: ${/weight: (\d+)$/.exec(envoy)?.[1] ?? ''}`),
    );
  });

  it('says of those that can do mutual TLS that they can', () => {
    expect(assignmentOf('[{ address: 10.0.0.2, locality: r/z/s }]', 'all')).toBe(
      canonical(`
cluster_name: outbound|80||a.mesh
endpoints:
  - locality: { region: r, zone: z, sub_zone: s }
    lb_endpoints:
      - endpoint: { address: { socket_address: { address: 10.0.0.2, port_value: 80 } } }
        metadata:
          filter_metadata:
            envoy.transport_socket_match: { tlsMode: istio }
            istio: { workload: ;;;;Kubernetes }
        load_balancing_weight: 1
    load_balancing_weight: 1`),
    );
  });

  it('is told without endpoints too', () => {
    expect(assignmentOf('[]')).toBe(canonical('cluster_name: outbound|80||a.mesh'));
  });
});

it('a subset has the endpoints with all of its labels', () => {
  const all = endpointsIn(
    '[{ address: 10.0.0.2, labels: { v: "1", w: "1" } }, { address: 10.0.0.3, labels: { v: "1" } }, { address: 10.0.0.4 }]',
  );
  const addresses = (labels: Readonly<Record<string, string>>) =>
    endpointsWith(all, labels).map(({ address }) => address);
  expect(addresses({})).toEqual(['10.0.0.2', '10.0.0.3', '10.0.0.4']);
  expect(addresses({ v: '1' })).toEqual(['10.0.0.2', '10.0.0.3']);
  expect(addresses({ v: '1', w: '1' })).toEqual(['10.0.0.2']);
  expect(addresses({ v: '2' })).toEqual([]);
});
