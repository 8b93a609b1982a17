import { describe, expect, it } from 'vitest';
import {
  plainForward,
  routeAction,
  type RouteSurroundings,
} from '../../../../../src/pilot-discovery/generate/routes/route-action.ts';
import { RouteSchema } from '../../../../../src/shared/proto/envoy/config/route/v3/route_components_pb.ts';
import { canonical, httpRouteIn, messageYaml } from '../../../../support/golden.ts';

/** The surroundings of port 80; requests to b.mesh are hashed by their header x-user. */
const around: RouteSurroundings = {
  port: 80,
  scheme: 'http',
  portOf: () => 80,
  hashPolicy: ({ host }) =>
    host === 'b.mesh'
      ? { policySpecifier: { case: 'header', value: { headerName: 'x-user' } } }
      : undefined,
};
const actionOf = (http: string): string =>
  messageYaml(RouteSchema, { action: routeAction(httpRouteIn(http), around) });

/** The retries that Istio gives a route whose rule does not set any. */
const retries = `
    retry_policy:
      retry_on: connect-failure,refused-stream,unavailable,cancelled,retriable-status-codes
      num_retries: 2
      host_selection_retry_max_attempts: "5"`;
const otherHost = `
      retry_host_predicate:
        - name: envoy.retry_host_predicates.previous_hosts
          typed_config: { "@type": type.googleapis.com/envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate }`;
const forward = (fields: string, timeout = '0s') => `
  route:
    timeout: ${timeout}
    max_grpc_timeout: ${timeout}${retries}${otherHost}
    ${fields.trim().replaceAll('\n', '\n    ')}`;
const toA = 'cluster: outbound|80||a.mesh';

describe('a route that leads to services', () => {
  it.each<[what: string, http: string, action: string]>([
    ['one, at the port of the listener', '', forward(toA)],
    [
      'one, at a port and of a subset',
      'route: [{ destination: { host: a.mesh, port: { number: 8080 }, subset: v1 } }]',
      forward('cluster: outbound|8080|v1|a.mesh'),
    ],
    [
      'two, by weight',
      `
route:
  - { destination: { host: a.mesh, subset: v1 }, weight: 90 }
  - { destination: { host: a.mesh, subset: v2 }, weight: 10 }`,
      forward(`
weighted_clusters:
  clusters:
    - { name: outbound|80|v1|a.mesh, weight: 90 }
    - { name: outbound|80|v2|a.mesh, weight: 10 }`),
    ],
    [
      'one of two, for the other has no weight',
      'route: [{ destination: { host: a.mesh }, weight: 100 }, { destination: { host: b.mesh } }]',
      forward('weighted_clusters: { clusters: [{ name: outbound|80||a.mesh, weight: 100 }] }'),
    ],
    [
      'two, each with headers of its own',
      `
route:
  - { destination: { host: a.mesh }, weight: 1, headers: { request: { set: { host: c.mesh, x-a: "1" }, remove: [x-b] } } }
  - { destination: { host: c.mesh }, weight: 1, headers: { response: { add: { x-c: "1" }, remove: [x-d] } } }`,
      forward(`
weighted_clusters:
  clusters:
    - name: outbound|80||a.mesh
      weight: 1
      host_rewrite_literal: c.mesh
      request_headers_to_add: [{ header: { key: x-a, value: "1" }, append_action: OVERWRITE_IF_EXISTS_OR_ADD }]
      request_headers_to_remove: [x-b]
    - name: outbound|80||c.mesh
      weight: 1
      response_headers_to_add: [{ header: { key: x-c, value: "1" } }]
      response_headers_to_remove: [x-d]`),
    ],
    ['with a time limit, for gRPC too', 'timeout: 2.5s', forward(toA, '2.500s')],
    ['with another path', 'rewrite: { uri: /b }', forward(`${toA}\nprefix_rewrite: /b`)],
    [
      'with another path by a regular expression',
      'rewrite: { uriRegexRewrite: { match: "^/a/(.*)$", rewrite: "/b/\\\\1" } }',
      forward(`${toA}\nregex_rewrite: { pattern: { regex: "^/a/(.*)$" }, substitution: '/b/\\1' }`),
    ],
    [
      'with another host',
      'rewrite: { authority: c.mesh }',
      forward(`${toA}\nhost_rewrite_literal: c.mesh`),
    ],
    [
      'with the host of a header of the route',
      'headers: { request: { set: { host: c.mesh } } }',
      forward(`${toA}\nhost_rewrite_literal: c.mesh`),
    ],
    [
      'with the host of a header of its only destination',
      'route: [{ destination: { host: a.mesh }, headers: { request: { set: { ":authority": c.mesh } } } }]',
      forward(`${toA}\nhost_rewrite_literal: c.mesh`),
    ],
    [
      'with mirrors: of all, of a part and of none',
      `
mirrors:
  - destination: { host: b.mesh }
  - { destination: { host: c.mesh, port: { number: 81 } }, percentage: { value: 0.5 } }
  - { destination: { host: d.mesh }, percentage: { value: 0 } }
  - { destination: { host: d.mesh }, percentage: {} }`,
      forward(`
${toA}
request_mirror_policies:
  - { cluster: outbound|80||b.mesh, runtime_fraction: { default_value: { numerator: 100 } }, trace_sampled: false }
  - cluster: outbound|81||c.mesh
    runtime_fraction: { default_value: { numerator: 5000, denominator: MILLION } }
    trace_sampled: false`),
    ],
    [
      'without a mirror if its percentage is empty, as in Istio',
      'mirror: { host: b.mesh }\nmirrorPercentage: {}',
      forward(toA),
    ],
    [
      'of which a header chooses the host, so a retry stays there',
      'route: [{ destination: { host: b.mesh } }]',
      forward(
        'cluster: outbound|80||b.mesh\nhash_policy: [{ header: { header_name: x-user } }]',
      ).replace(otherHost, ''),
    ],
    [
      'of which a header chooses the host in one of two',
      'route: [{ destination: { host: a.mesh }, weight: 1 }, { destination: { host: b.mesh }, weight: 1 }]',
      forward(`
weighted_clusters:
  clusters: [{ name: outbound|80||a.mesh, weight: 1 }, { name: outbound|80||b.mesh, weight: 1 }]
hash_policy: [{ header: { header_name: x-user } }]`),
    ],
    [
      'without retries',
      'retries: { attempts: 0 }',
      `route: { timeout: 0s, max_grpc_timeout: 0s, ${toA} }`,
    ],
  ])('%s', (_, http, action) => {
    expect(actionOf(http)).toBe(canonical(action));
  });
});

describe('a route that redirects', () => {
  it.each<[what: string, redirect: string, action: string]>([
    ['the path', '{ uri: /b }', '{ path_redirect: /b }'],
    ['the prefix of the path', '{ prefixRewrite: /b }', '{ prefix_rewrite: /b }'],
    [
      'the host, for good if it is not said',
      '{ authority: b.mesh }',
      '{ host_redirect: b.mesh, path_redirect: "" }',
    ],
    ['for now', '{ uri: /b, redirectCode: 302 }', '{ path_redirect: /b, response_code: FOUND }'],
    [
      'with 303',
      '{ uri: /b, redirectCode: 303 }',
      '{ path_redirect: /b, response_code: SEE_OTHER }',
    ],
    [
      'with 307',
      '{ uri: /b, redirectCode: 307 }',
      '{ path_redirect: /b, response_code: TEMPORARY_REDIRECT }',
    ],
    [
      'with 308',
      '{ uri: /b, redirectCode: 308 }',
      '{ path_redirect: /b, response_code: PERMANENT_REDIRECT }',
    ],
    [
      'the scheme, at its usual port',
      '{ scheme: https, port: 443 }',
      '{ scheme_redirect: https, path_redirect: "" }',
    ],
    [
      'the scheme and the port',
      '{ scheme: https, port: 8443 }',
      '{ scheme_redirect: https, port_redirect: 8443, path_redirect: "" }',
    ],
    ['the port', '{ port: 8080 }', '{ port_redirect: 8080, path_redirect: "" }'],
    [
      'to the port of the listener, which is the usual one of HTTP',
      '{ uri: /b, derivePort: FROM_REQUEST_PORT }',
      '{ path_redirect: /b }',
    ],
    [
      'to the port of the listener, which is unusual for HTTPS',
      '{ uri: /b, scheme: https, derivePort: FROM_REQUEST_PORT }',
      '{ path_redirect: /b, scheme_redirect: https, port_redirect: 80 }',
    ],
    [
      'to the usual port',
      '{ uri: /b, scheme: https, derivePort: FROM_PROTOCOL_DEFAULT }',
      '{ path_redirect: /b, scheme_redirect: https }',
    ],
  ])('%s', (_, redirect, action) => {
    expect(actionOf(`redirect: ${redirect}`)).toBe(canonical(`redirect: ${action}`));
  });
});

it.each<[what: string, directResponse: string]>([
  ['a status', '{ status: 204 }'],
  ['a text', '{ status: 503, body: { string: away } }'],
  ['bytes', '{ status: 200, body: { bytes: 3q2+7w== } }'],
])('a route that answers: %s', (_, directResponse) => {
  const answer = directResponse
    .replace('string:', 'inline_string:')
    .replace('bytes:', 'inline_bytes:');
  expect(actionOf(`directResponse: ${directResponse}`)).toBe(
    canonical(`direct_response: ${answer}`),
  );
});

it('a service without a rule has the retries of Istio, on another host even if a hash chooses', () => {
  const hash = { policySpecifier: { case: 'header', value: { headerName: 'x-user' } } } as const;
  const action = (policy: typeof hash | undefined) =>
    messageYaml(RouteSchema, {
      action: { case: 'route', value: plainForward('outbound|80||a.mesh', policy) },
    });
  expect(action(undefined)).toBe(canonical(forward(toA)));
  expect(action(hash)).toBe(
    canonical(forward(`${toA}\nhash_policy: [{ header: { header_name: x-user } }]`)),
  );
});
