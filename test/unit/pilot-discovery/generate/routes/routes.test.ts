import { describe, expect, it } from 'vitest';
import { routesOf } from '../../../../../src/pilot-discovery/generate/routes/routes.ts';
import { RouteConfigurationSchema } from '../../../../../src/shared/proto/envoy/config/route/v3/route_pb.ts';
import {
  canonical,
  meshIn,
  proxyIn,
  resourcesYaml,
  resourceText,
} from '../../../../support/golden.ts';
import { environmentOf } from '../../../../support/generated.ts';
import { growthRatio } from '../../../../support/growth-ratio.ts';

/** Returns the route configurations of a proxy. */
function routesFor(yaml: string, { mesh = '', metadata = '' } = {}): string {
  const environment = environmentOf(yaml, mesh === '' ? {} : { mesh: meshIn(mesh) });
  return resourcesYaml(RouteConfigurationSchema, routesOf(environment, proxyIn(metadata)));
}

const service = (host: string, more: string) =>
  `${resourceText('ServiceEntry', host.replaceAll('.', '-'), `{ hosts: [${host}], resolution: STATIC, ${more} }`)}---\n`;
const port = (number: number, protocol: string) =>
  `{ number: ${number}, name: p${number}, protocol: ${protocol} }`;

const configuration = `
  validate_clusters: false
  max_direct_response_body_size_bytes: 1048576
  ignore_port_in_host_matching: true`;
const plainRoute = (cluster: string, operation: string) => `
        - name: default
          match: { prefix: / }
          decorator: { operation: "${operation}" }
          route:
            cluster: ${cluster}
            timeout: 0s
            max_grpc_timeout: 0s
            retry_policy:
              retry_on: connect-failure,refused-stream,unavailable,cancelled,retriable-status-codes
              num_retries: 2
              host_selection_retry_max_attempts: "5"
              retry_host_predicate:
                - name: envoy.retry_host_predicates.previous_hosts
                  typed_config: { "@type": type.googleapis.com/envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate }`;
const allowAny = `
    - name: allow_any
      domains: ["*"]
      include_request_attempt_count: true
      routes:
        - name: allow_any
          match: { prefix: / }
          route: { cluster: PassthroughCluster, timeout: 0s, max_grpc_timeout: 0s }`;
const blockAll = `
    - name: block_all
      domains: ["*"]
      include_request_attempt_count: true
      routes: [{ name: block_all, match: { prefix: / }, direct_response: { status: 502 } }]`;

const address = 'addresses: [240.0.0.1]';
const hostOfA = `
    - name: a.mesh:80
      domains: [a.mesh, 240.0.0.1]
      include_request_attempt_count: true
      routes:${plainRoute('outbound|80||a.mesh', 'a.mesh:80/*')}`;

describe('the route configurations of a sidecar', () => {
  it.each<
    [what: string, yaml: string, routes: string, proxy?: { mesh?: string; metadata?: string }]
  >([
    [
      'HTTP: one for each port, the rest passes',
      service('a.mesh', `${address}, ports: [${port(80, 'HTTP')}]`),
      `
"80":
  name: "80"${configuration}
  virtual_hosts:${hostOfA}${allowAny}`,
    ],
    [
      'nothing but the registry: the rest is answered with 502',
      service('a.mesh', `${address}, ports: [${port(80, 'HTTP')}]`),
      `
"80":
  name: "80"${configuration}
  virtual_hosts:${hostOfA}${blockAll}`,
      { mesh: 'outboundTrafficPolicy: { mode: REGISTRY_ONLY }' },
    ],
    [
      'a Sidecar that blocks the rest, in a mesh that lets it pass',
      `${service('a.mesh', `${address}, ports: [${port(80, 'HTTP')}]`)}${resourceText('Sidecar', 's', '{ outboundTrafficPolicy: { mode: REGISTRY_ONLY } }')}`,
      `
"80":
  name: "80"${configuration}
  virtual_hosts:${hostOfA}${blockAll}`,
    ],
    [
      'a port whose protocol is not said: one for its address, for all names',
      service('a.mesh', `${address}, ports: [{ number: 90, name: p }]`),
      `
a.mesh:90:
  name: a.mesh:90${configuration}
  virtual_hosts:
    - name: a.mesh:90
      domains: ["*"]
      include_request_attempt_count: true
      routes:${plainRoute('outbound|90||a.mesh', 'a.mesh:90/*')}`,
    ],
    [
      'a port whose protocol is not said, without an address: one for the port',
      service('a.mesh', 'ports: [{ number: 90, name: p }]'),
      `
"90":
  name: "90"${configuration}
  virtual_hosts:
    - name: a.mesh:90
      domains: [a.mesh]
      include_request_attempt_count: true
      routes:${plainRoute('outbound|90||a.mesh', 'a.mesh:90/*')}${allowAny}`,
    ],
    [
      'TCP and TLS: none',
      service('a.mesh', `ports: [${port(90, 'TCP')}, ${port(443, 'TLS')}]`),
      '{}',
    ],
  ])('%s', (_, yaml, routes, proxy) => {
    expect(routesFor(yaml, proxy)).toBe(canonical(routes));
  });

  it('are none for a gateway', () => {
    const environment = environmentOf(service('a.mesh', `ports: [${port(80, 'HTTP')}]`));
    const gateway = proxyIn('', {
      id: 'router~10.0.0.1~gateway.default~default.svc.cluster.local',
    });
    expect(routesOf(environment, gateway)).toEqual([]);
  });
});

it('takes a time for each service whose port has no protocol, whatever other rules there are', () => {
  const routes = (count: number) => {
    const texts = Array.from({ length: count }, (_, index) => {
      const host = `s${index}.mesh`;
      const spec = `{ hosts: [${host}], http: [{ route: [{ destination: { host: a.mesh } }] }] }`;
      const addresses = `addresses: [240.0.${index >> 8}.${index & 255}]`;
      const declared = service(host, `${addresses}, ports: [{ number: 80, name: p }]`);
      return `${declared}${resourceText('VirtualService', `v${index}`, spec)}---\n`;
    });
    const environment = environmentOf(texts.join(''));
    // Another MeshConfig: nothing that was made for the last one is used again.
    return () => routesOf({ ...environment, mesh: { ...environment.mesh } }, proxyIn(''));
  };
  expect(growthRatio(routes(40), routes(480), 40)).toBeLessThan(40);
});
