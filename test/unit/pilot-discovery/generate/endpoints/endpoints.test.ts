import { describe, expect, it } from 'vitest';
import { ClusterLoadAssignmentSchema } from '../../../../../src/shared/proto/envoy/config/endpoint/v3/endpoint_pb.ts';
import {
  canonical,
  proxyIn,
  replacing,
  resourcesYaml,
  resourceText,
} from '../../../../support/golden.ts';
import { endpointsOf, environmentOf } from '../../../../support/generated.ts';

const sidecar = proxyIn('');
const router = proxyIn('', { id: 'router~10.0.0.1~g.default~default.svc.cluster.local' });

/** Prints the assignments of a proxy, with only the addresses of their endpoints. */
function assignmentsFor(yaml: readonly string[], node = sidecar): string {
  const addresses = replacing('endpoints', (localities) =>
    (localities as readonly { readonly lb_endpoints?: readonly object[] }[]).flatMap(
      ({ lb_endpoints: all = [] }) =>
        [...JSON.stringify(all).matchAll(/"address":"([^"]+)"/g)].map(([, address]) => address),
    ),
  );
  return resourcesYaml(
    ClusterLoadAssignmentSchema,
    endpointsOf(environmentOf(yaml.join('---\n')), node),
    addresses,
  );
}

const service = (resolution: string, ports = '{ number: 80, name: http }') =>
  resourceText(
    'ServiceEntry',
    'a',
    `{ hosts: [a.mesh], resolution: ${resolution}, ports: [${ports}], endpoints: [{ address: 10.0.0.8, labels: { v: "1" } }, { address: 10.0.0.9, labels: { v: "2" } }] }`,
  );
const rule = (spec: string) => resourceText('DestinationRule', 'a', `{ host: a.mesh, ${spec} }`);
const automatic = resourceText(
  'Gateway',
  'cross',
  "{ servers: [{ port: { number: 15443, name: tls, protocol: TLS }, hosts: ['*'], tls: { mode: AUTO_PASSTHROUGH } }] }",
);
const inMesh = service('STATIC')
  .replace('hosts:', 'location: MESH_INTERNAL\n  hosts:')
  .replace('v: "1"', 'v: "1"\n        security.istio.io/tlsMode: istio');
const both = '[10.0.0.8, 10.0.0.9]';
const assignment = (name: string, endpoints: string) =>
  `\n${name}: { cluster_name: "${name}"${endpoints === '' ? '' : `, endpoints: ${endpoints}`} }`;

describe('the endpoints that a proxy asks for', () => {
  it.each<[what: string, yaml: readonly string[], assignments: string, node?: typeof sidecar]>([
    ['those of a service', [service('STATIC')], assignment('outbound|80||a.mesh', both)],
    [
      'those of each port but UDP',
      [
        service(
          'STATIC',
          '{ number: 80, name: http }, { number: 90, name: tcp }, { number: 53, name: udp, protocol: UDP }',
        ),
      ],
      assignment('outbound|80||a.mesh', both) + assignment('outbound|90||a.mesh', both),
    ],
    [
      'those of each subset',
      [
        service('STATIC'),
        rule('subsets: [{ name: v1, labels: { v: "1" } }, { name: v3, labels: { v: "3" } }]'),
      ],
      assignment('outbound|80||a.mesh', both) +
        assignment('outbound|80|v1|a.mesh', '[10.0.0.8]') +
        assignment('outbound|80|v3|a.mesh', ''),
    ],
    ['none that DNS tells', [service('DNS')], '{}'],
    [
      'none with PASSTHROUGH, but in a subset that has another balancer',
      [
        service('STATIC'),
        rule(
          'trafficPolicy: { loadBalancer: { simple: PASSTHROUGH } }, subsets: [{ name: v1, labels: { v: "1" }, trafficPolicy: { loadBalancer: { simple: RANDOM } } }]',
        ),
      ],
      assignment('outbound|80|v1|a.mesh', '[10.0.0.8]'),
    ],
    [
      'none for a gateway of a service that is not resolved and has none',
      [
        resourceText(
          'ServiceEntry',
          'a',
          '{ hosts: [a.mesh], resolution: NONE, ports: [{ number: 80, name: http }] }',
        ),
      ],
      assignment('outbound|80||a.mesh', ''),
      router,
    ],
    [
      'those that support mutual TLS, of a cluster whose TLS a gateway passes on',
      [automatic, inMesh, rule('subsets: [{ name: v2, labels: { v: "2" } }]')],
      assignment('outbound|80||a.mesh', both) +
        assignment('outbound|80|v2|a.mesh', '[10.0.0.9]') +
        assignment('outbound_.80_._.a.mesh', '[10.0.0.8]') +
        assignment('outbound_.80_.v2_.a.mesh', '[]'),
      router,
    ],
    [
      'none whose TLS a gateway passes on, if a rule disables it',
      [automatic, inMesh, rule('trafficPolicy: { tls: { mode: DISABLE } }')],
      assignment('outbound|80||a.mesh', both) + assignment('outbound_.80_._.a.mesh', '[]'),
      router,
    ],
    ['none for others to pass on', [automatic, inMesh], assignment('outbound|80||a.mesh', both)],
    [
      'none of a service outside of the mesh to pass on',
      [automatic, service('STATIC')],
      assignment('outbound|80||a.mesh', both),
      router,
    ],
  ])('%s', (_, yaml, assignments, node) => {
    expect(assignmentsFor(yaml, node)).toBe(canonical(assignments));
  });
});
