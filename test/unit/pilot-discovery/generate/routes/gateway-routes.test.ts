import { describe, expect, it } from 'vitest';
import { gatewayRoutes } from '../../../../../src/pilot-discovery/generate/routes/gateway-routes.ts';
import { visibleServices } from '../../../../../src/pilot-discovery/generate/scope/visible-services.ts';
import { RouteConfigurationSchema } from '../../../../../src/shared/proto/envoy/config/route/v3/route_pb.ts';
import {
  canonical,
  proxyIn,
  replacing,
  resourcesYaml,
  resourceText,
} from '../../../../support/golden.ts';
import { environmentOf } from '../../../../support/generated.ts';

const node = proxyIn('LABELS: { istio: ingressgateway }', {
  id: 'router~10.0.0.1~gateway.default~default.svc.cluster.local',
});
/** Returns the routes that a gateway receives. */
function routesFor(...yaml: readonly string[]) {
  const environment = environmentOf(yaml.join('---\n'));
  return gatewayRoutes(environment, node, visibleServices(environment, node));
}
interface Route {
  readonly match: { readonly prefix: string };
  readonly route?: { readonly cluster: string };
  readonly redirect?: object;
}
const shortRoutes = replacing('routes', (routes) =>
  (routes as readonly Route[]).map(
    ({ match, route, redirect }) =>
      `${match.prefix} to ${route?.cluster ?? JSON.stringify(redirect)}`,
  ),
);
const printed = (...yaml: readonly string[]) =>
  resourcesYaml(RouteConfigurationSchema, routesFor(...yaml).resources, shortRoutes);

const gateway = (name: string, ...servers: readonly string[]) =>
  resourceText(
    'Gateway',
    name,
    `{ selector: { istio: ingressgateway }, servers: [${servers.join()}] }`,
  );
const http = (hosts: string, number = 80, more = '') =>
  `{ port: { number: ${number}, name: p${number}-${hosts.length}, protocol: HTTP }, hosts: [${hosts}]${more} }`;
const https = (hosts: string, number = 443) =>
  `{ port: { number: ${number}, name: s, protocol: HTTPS }, hosts: [${hosts}], tls: { mode: SIMPLE, credentialName: c } }`;
const rule = (name: string, hosts: string, routes: string, more = '') =>
  resourceText(
    'VirtualService',
    name,
    `{ hosts: [${hosts}], gateways: [front], http: [${routes}]${more} }`,
  );
const to = (host: string, match = '') =>
  `{ ${match === '' ? '' : `match: [${match}], `}route: [{ destination: { host: ${host} } }] }`;
const redirected = ', tls: { httpsRedirect: true }';

const configuration = (name: string, hosts: string) => `
${name}:
  name: ${name}
  validate_clusters: false
  ignore_port_in_host_matching: true
  max_direct_response_body_size_bytes: 1048576
  virtual_hosts: [${hosts}]`;
const host = (name: string, routes: string, more = '') =>
  `{ name: "${name}", domains: [${name.replace(/:.*/, '')}], include_request_attempt_count: true${routes === '' ? '' : `, routes: [${routes}]`}${more} }`;
const nobody = (port: number) => `{ name: "blackhole:${port}", domains: ["*"] }`;

describe('the virtual hosts of a gateway', () => {
  const front = gateway('front', http('a.example.com, b.example.com'));
  it.each([
    ['none without a rule: every request is answered 404', [front], nobody(80)],
    [
      'are those that a rule and a server have in common',
      [front, rule('r', 'a.example.com, c.example.com', to('a.mesh'))],
      host('a.example.com:80', '/ to outbound|80||a.mesh'),
    ],
    [
      'are one for hosts that have the same routes',
      [front, rule('r', 'a.example.com, b.example.com', to('a.mesh'))],
      '{ name: "a.example.com:80", domains: [a.example.com, b.example.com], include_request_attempt_count: true, routes: ["/ to outbound|80||a.mesh"] }',
    ],
    [
      'are the hosts of the server, if a rule is for all that end so',
      [front, rule('r', "'*.example.com'", to('a.mesh'))],
      '{ name: "a.example.com:80", domains: [a.example.com, b.example.com], include_request_attempt_count: true, routes: ["/ to outbound|80||a.mesh"] }',
    ],
    [
      'are the hosts of the rule, if a server is for all that end so',
      [gateway('front', http("'*.example.com'")), rule('r', 'a.example.com', to('a.mesh'))],
      host('a.example.com:80', '/ to outbound|80||a.mesh'),
    ],
    [
      'are none of a rule of another namespace, if the server names one',
      [gateway('front', http('other/a.example.com')), rule('r', 'a.example.com', to('a.mesh'))],
      nobody(80),
    ],
    [
      'are those of its own namespace, if the server says so',
      [gateway('front', http('./a.example.com')), rule('r', 'a.example.com', to('a.mesh'))],
      host('a.example.com:80', '/ to outbound|80||a.mesh'),
    ],
    [
      'have the routes of several rules, those for all requests last',
      [
        front,
        rule('r1', 'a.example.com', to('a.mesh')),
        rule('r2', 'a.example.com', to('b.mesh', '{ uri: { prefix: /b } }')),
      ],
      host('a.example.com:80', '/b to outbound|80||b.mesh, / to outbound|80||a.mesh'),
    ],
    [
      'lack a rule for the mesh alone',
      [front, rule('r', 'a.example.com', to('a.mesh', '{ gateways: [mesh] }'))],
      nobody(80),
    ],
    [
      'have a match that names the gateway',
      [
        front,
        rule(
          'r',
          'a.example.com',
          `${to('a.mesh', '{ gateways: [other], uri: { prefix: /a } }')}, ${to('b.mesh', '{ gateways: [front] }')}`,
        ),
      ],
      host('a.example.com:80', '/ to outbound|80||b.mesh'),
    ],
    [
      'lack a match of another port',
      [
        front,
        rule(
          'r',
          'a.example.com',
          `${to('a.mesh', '{ port: 81 }')}, ${to('b.mesh', '{ port: 80 }')}`,
        ),
      ],
      host('a.example.com:80', '/ to outbound|80||b.mesh'),
    ],
    [
      'have a match of a claim',
      [
        front,
        rule(
          'r',
          'a.example.com',
          `${to('a.mesh', "{ headers: { '@request.auth.claims.group': { exact: a } } }")}, ${to('b.mesh', "{ withoutHeaders: { '@request.auth.claims.group': { exact: a } } }")}`,
        ),
      ],
      host('a.example.com:80', '/ to outbound|80||a.mesh,/ to outbound|80||b.mesh'),
    ],
    [
      'send requests to HTTPS, with or without a rule',
      [
        gateway('front', http('a.example.com, b.example.com', 80, redirected)),
        rule('r', 'a.example.com', to('a.mesh')),
      ],
      `${host('a.example.com:80', '/ to outbound|80||a.mesh', ', require_tls: ALL')}, ${host('b.example.com:80', '', ', require_tls: ALL')}`,
    ],
    [
      'send requests to HTTPS, if one of two servers does',
      [
        gateway('front', http('a.example.com'), http("'*.example.com'", 80, redirected)),
        rule('r', 'a.example.com', to('a.mesh')),
      ],
      `${host('*.example.com:80', '', ', require_tls: ALL').replace('[*.example.com]', '["*.example.com"]')}, ${host('a.example.com:80', '/ to outbound|80||a.mesh,/ to outbound|80||a.mesh', ', require_tls: ALL')}`,
    ],
  ])('%s', (_, yaml, hosts) => {
    expect(printed(...yaml)).toBe(canonical(configuration('http.80', hosts)));
  });

  it('are those of one configuration for all servers of HTTP at a port, and for each of HTTPS', () => {
    const configurations = printed(
      gateway('front', http('a.example.com'), https('a.example.com')),
      gateway('second', http('b.example.com'), http('b.example.com', 81)),
      rule('r', 'a.example.com', to('a.mesh')),
      resourceText(
        'VirtualService',
        's',
        `{ hosts: [b.example.com], gateways: [second], http: [${to('b.mesh')}] }`,
      ),
    );
    const a = (port: number) => host(`a.example.com:${port}`, `/ to outbound|${port}||a.mesh`);
    const b = (port: number) => host(`b.example.com:${port}`, `/ to outbound|${port}||b.mesh`);
    expect(configurations).toBe(
      canonical(
        configuration('http.80', `${a(80)}, ${b(80)}`) +
          configuration('https.443.s.front.default', a(443)) +
          configuration('http.81', b(81)),
      ),
    );
  });

  it('lead to the port of a service that has one alone', () => {
    const service = (ports: string) =>
      resourceText(
        'ServiceEntry',
        's',
        `{ hosts: [a.mesh], resolution: STATIC, ports: [${ports}] }`,
      );
    const [eight, nine] = ['{ number: 8000, name: a }', '{ number: 9000, name: b }'];
    const clusters = (ports: string) => [
      ...routesFor(front, rule('r', 'a.example.com', to('a.mesh')), service(ports)).clusters,
    ];
    expect(clusters(eight)).toEqual(['outbound|8000||a.mesh']);
    expect(clusters(`${eight}, ${nine}`)).toEqual(['outbound|80||a.mesh']);
  });

  it('redirect to the port of the request, but for the usual one of its scheme', () => {
    const redirect = '{ redirect: { derivePort: FROM_REQUEST_PORT, authority: b.example.com } }';
    const ports = (...servers: readonly string[]) =>
      [
        ...printed(gateway('front', ...servers), rule('r', 'a.example.com', redirect)).matchAll(
          /port_redirect\\?":(\d+)/g,
        ),
      ].map(([, port]) => Number(port));
    expect(ports(http('a.example.com'), https('a.example.com'))).toEqual([]);
    expect(ports(http('a.example.com', 443))).toEqual([443]);
    expect(ports(https('a.example.com', 80))).toEqual([80]);
  });

  it('name all clusters that they lead to, mirrors too', () => {
    const { clusters } = routesFor(
      front,
      rule(
        'r',
        'a.example.com',
        '{ route: [{ destination: { host: a.mesh }, weight: 1 }, { destination: { host: b.mesh, subset: v1 }, weight: 1 }], mirror: { host: c.mesh } }',
      ),
    );
    expect([...clusters]).toEqual([
      'outbound|80||a.mesh',
      'outbound|80|v1|b.mesh',
      'outbound|80||c.mesh',
    ]);
  });
});
