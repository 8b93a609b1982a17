import { describe, expect, it } from 'vitest';
import { routesOfVirtualService } from '../../../../../src/pilot-discovery/generate/routes/route.ts';
import { RouteSchema } from '../../../../../src/shared/proto/envoy/config/route/v3/route_components_pb.ts';
import { canonical, messageYaml, resourceText } from '../../../../support/golden.ts';
import { environmentOf } from '../../../../support/generated.ts';

/**
 * Returns the routes at port 80 of a VirtualService, for the workload `app` of the namespace
 * `default`.
 */
function routesFor(http: string) {
  const [rule] = environmentOf(
    resourceText('VirtualService', 'rule', `hosts: [a.mesh]\nhttp: ${http}`),
  ).virtualServices;
  if (rule === undefined) throw new Error('there is no rule');
  return routesOfVirtualService(
    rule,
    { namespace: 'default', labels: { app: 'app' }, gateway: 'mesh' },
    { port: 80, scheme: 'http', portOf: () => 80, hashPolicy: () => undefined },
  );
}

describe('a route of a VirtualService', () => {
  const metadata =
    'metadata: { filter_metadata: { istio: { config: /apis/networking.istio.io/v1/namespaces/default/virtual-service/rule } } }';

  it.each<[what: string, http: string, route: string]>([
    [
      'is named after the rule and its match, and counted apart',
      `[{ name: first, match: [{ name: books, uri: { prefix: /books }, statPrefix: books }], directResponse: { status: 200 } }]`,
      `
name: first.books
match: { prefix: /books, case_sensitive: true }
direct_response: { status: 200 }
decorator: { operation: rule:80/books* }
stat_prefix: books
${metadata}`,
    ],
    [
      'is for all without a match',
      '[{ redirect: { uri: /b } }]',
      `
match: { prefix: / }
redirect: { path_redirect: /b }
decorator: { operation: rule:80/* }
${metadata}`,
    ],
    [
      'is called after its service in spans, and has the headers of its only destination',
      `
- headers: { request: { set: { x-a: "1" }, remove: [x-b] }, response: { remove: [x-c] } }
  retries: { attempts: 0 }
  route:
    - destination: { host: b.mesh, port: { number: 81 } }
      headers: { request: { add: { x-d: "2" }, remove: [x-e] }, response: { set: { x-f: "3" }, remove: [x-g] } }`,
      `
match: { prefix: / }
route: { cluster: outbound|81||b.mesh, timeout: 0s, max_grpc_timeout: 0s }
decorator: { operation: b.mesh:81/* }
request_headers_to_add:
  - { header: { key: x-a, value: "1" }, append_action: OVERWRITE_IF_EXISTS_OR_ADD }
  - { header: { key: x-d, value: "2" } }
request_headers_to_remove: [x-b, x-e]
response_headers_to_add:
  - { header: { key: x-f, value: "3" }, append_action: OVERWRITE_IF_EXISTS_OR_ADD }
response_headers_to_remove: [x-c, x-g]
${metadata}`,
    ],
    [
      'is called after its rule if it has two services, whose headers are theirs',
      `
- retries: { attempts: 0 }
  route:
    - { destination: { host: b.mesh }, weight: 1, headers: { request: { remove: [x-a] } } }
    - { destination: { host: c.mesh }, weight: 1 }`,
      `
match: { prefix: / }
route:
  timeout: 0s
  max_grpc_timeout: 0s
  weighted_clusters:
    clusters:
      - { name: outbound|80||b.mesh, weight: 1, request_headers_to_remove: [x-a] }
      - { name: outbound|80||c.mesh, weight: 1 }
decorator: { operation: rule:80/* }
${metadata}`,
    ],
    [
      'has the settings of filters',
      '[{ route: [{ destination: { host: b.mesh } }], retries: { attempts: 0 }, fault: { abort: { httpStatus: 500, percentage: { value: 100 } } } }]',
      `
match: { prefix: / }
route: { cluster: outbound|80||b.mesh, timeout: 0s, max_grpc_timeout: 0s }
decorator: { operation: b.mesh:80/* }
typed_per_filter_config:
  envoy.filters.http.fault:
    "@type": type.googleapis.com/envoy.extensions.filters.http.fault.v3.HTTPFault
    abort: { http_status: 500, percentage: { numerator: 1000000, denominator: MILLION } }
${metadata}`,
    ],
  ])('%s', (_, http, route) => {
    const [firstRoute, ...more] = routesFor(http);
    expect(more).toEqual([]);
    expect(messageYaml(RouteSchema, firstRoute)).toBe(canonical(route));
  });
});

describe('the routes of a VirtualService for a caller', () => {
  const answer = (name: string, match: string) =>
    `{ name: ${name}, match: ${match}, directResponse: { status: 200 } }`;
  const names = (...http: readonly string[]) =>
    routesFor(`[${http.join()}]`).map(({ name }) => name);

  it('are one for each match, in the order of the rule', () => {
    expect(
      names(
        answer('a', '[{ name: one, uri: { exact: /1 } }, { name: two, uri: { exact: /2 } }]'),
        answer('b', '[{ uri: { exact: /3 } }]'),
      ),
    ).toEqual(['a.one', 'a.two', 'b']);
  });

  it.each([
    ['a match that takes all', '[{ uri: { prefix: / } }]'],
    ['no match', '[]'],
  ])('end with %s', (_, match) => {
    expect(names(answer('a', match), answer('b', '[{ uri: { exact: /3 } }]'))).toEqual(['a']);
  });

  it.each<[match: string, is: 'here' | 'not here']>([
    ['port: 80', 'here'],
    ['port: 81', 'not here'],
    ['gateways: [mesh]', 'here'],
    ['gateways: [gateway]', 'not here'],
    ['sourceLabels: { app: app }', 'here'],
    ['sourceLabels: { app: app, version: v1 }', 'not here'],
    ['sourceNamespace: default', 'here'],
    ['sourceNamespace: other', 'not here'],
    // A match that names gateways is not compared with the caller, as in Istio.
    ['gateways: [mesh], sourceLabels: { app: other }', 'here'],
  ])('are those whose match concerns it: %s is %s', (match, is) => {
    expect(names(answer('a', `[{ ${match} }]`))).toEqual(is === 'here' ? ['a'] : []);
  });
});
