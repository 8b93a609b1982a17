import { describe, expect, it } from 'vitest';
import {
  pathOf,
  routeMatch,
  takesAll,
} from '../../../../../src/pilot-discovery/generate/routes/route-match.ts';
import { RouteMatchSchema } from '../../../../../src/shared/proto/envoy/config/route/v3/route_components_pb.ts';
import { canonical, httpRouteIn, messageYaml, specIn } from '../../../../support/golden.ts';

/** Returns the match of a VirtualService, as it is read; undefined if there is none. */
const read = (match: string) => httpRouteIn(match === '' ? '' : `match: [${match}]`).match[0];

describe('the match of a route as a RouteMatch of Envoy', () => {
  it.each<[what: string, match: string, envoy: string]>([
    ['no match takes all', '', '{ prefix: / }'],
    ['path', '{ uri: { exact: /a } }', '{ path: /a, case_sensitive: true }'],
    ['prefix', '{ uri: { prefix: /a } }', '{ prefix: /a, case_sensitive: true }'],
    [
      'regular expression',
      '{ uri: { regex: "/a/\\\\d+" } }',
      '{ safe_regex: { regex: "/a/\\\\d+" }, case_sensitive: true }',
    ],
    [
      'upper and lower case alike',
      '{ uri: { prefix: /a }, ignoreUriCase: true }',
      '{ prefix: /a, case_sensitive: false }',
    ],
    [
      'method, authority and scheme, after headers by name',
      `{ uri: { prefix: / }, scheme: { exact: https }, authority: { prefix: a. }, method: { regex: GET|POST },
        headers: { x-b: { exact: b }, x-a: { prefix: a } } }`,
      `
prefix: /
case_sensitive: true
headers:
  - { name: x-a, string_match: { prefix: a } }
  - { name: x-b, string_match: { exact: b } }
  - { name: ":method", string_match: { safe_regex: { regex: GET|POST } } }
  - { name: ":authority", string_match: { prefix: a. } }
  - { name: ":scheme", string_match: { exact: https } }`,
    ],
    [
      'a header that is there',
      '{ headers: { x-a: {} } }',
      '{ prefix: /, case_sensitive: true, headers: [{ name: x-a, present_match: true }] }',
    ],
    [
      'a header that is not there',
      '{ withoutHeaders: { x-a: {} } }',
      `
prefix: /
case_sensitive: true
headers: [{ name: x-a, present_match: true, invert_match: true }]`,
    ],
    [
      'a header that has another value, or is not there',
      '{ withoutHeaders: { x-a: { exact: a } } }',
      `
prefix: /
case_sensitive: true
headers:
  - { name: x-a, string_match: { exact: a }, invert_match: true, treat_missing_header_as_empty: true }`,
    ],
    [
      'parameters of the query, by name',
      '{ queryParams: { b: { regex: "b+" }, a: { exact: a }, c: { prefix: c } } }',
      `
prefix: /
case_sensitive: true
query_parameters:
  - { name: a, string_match: { exact: a } }
  - { name: b, string_match: { safe_regex: { regex: b+ } } }
  - { name: c, string_match: { prefix: c } }`,
    ],
    [
      'a parameter that is there',
      '{ queryParams: { a: {} } }',
      '{ prefix: /, case_sensitive: true, query_parameters: [{ name: a, present_match: true }] }',
    ],
    [
      'who calls and where: that is decided here, not by Envoy',
      '{ port: 80, sourceLabels: { app: a }, sourceNamespace: b, gateways: [mesh] }',
      '{ prefix: /, case_sensitive: true }',
    ],
  ])('%s', (_, match, envoy) => {
    expect(messageYaml(RouteMatchSchema, routeMatch(read(match)))).toBe(canonical(envoy));
  });
});

it.each<[match: string, path: string, takes: 'all' | 'some']>([
  ['', '/*', 'all'],
  ['{ uri: { prefix: / } }', '/*', 'all'],
  ['{ uri: { regex: ".*" } }', '.*', 'all'],
  ['{ uri: { exact: / } }', '/', 'some'],
  ['{ uri: { prefix: /a } }', '/a*', 'some'],
  ['{ uri: { regex: "/.*" } }', '/.*', 'some'],
  ['{ headers: { x-a: {} } }', '/*', 'some'],
  ['{ queryParams: { a: { exact: b } } }', '/*', 'some'],
])('the match %s is called %s in spans and takes %s requests', (match, path, takes) => {
  const envoyMatch = routeMatch(read(match));
  expect([pathOf(envoyMatch), takesAll(envoyMatch)]).toEqual([path, takes === 'all']);
});

describe('the match of a claim of a token', () => {
  const matcher = (path: string, value: string) => `
  - filter: envoy.filters.http.jwt_authn
    path: [{ key: payload }, ${path}]
    value: ${value}`;
  const either = (value: string) =>
    `{ or_match: { value_matchers: [{ list_match: { one_of: { string_match: ${value} } } }, { string_match: ${value} }] } }`;
  const ofGateway = (match: string) =>
    specIn(
      'VirtualService',
      `{ hosts: [a.mesh], gateways: [front], http: [{ match: [${match}], route: [{ destination: { host: a.mesh } }] }] }`,
    ).http[0]?.match[0];

  it.each<[what: string, match: string, envoy: string]>([
    [
      'one value, or a list that has it',
      "{ headers: { '@request.auth.claims.sub': { exact: a } } }",
      matcher('{ key: sub }', either('{ exact: a }')),
    ],
    [
      'by path, in the order of their names, beside a header',
      "{ headers: { '@request.auth.claims[b][c]': { prefix: a }, '@request.auth.claims.b.a': { regex: 'a.*' }, x-a: { exact: a } } }",
      `${matcher('{ key: b }, { key: a }', either('{ safe_regex: { regex: a.* } }'))}${matcher('{ key: b }, { key: c }', either('{ prefix: a }'))}
headers: [{ name: x-a, string_match: { exact: a } }]`,
    ],
    [
      'that is there, and one that is not there',
      "{ headers: { '@request.auth.claims.b': {} }, withoutHeaders: { '@request.auth.claims.a': {} } }",
      `${matcher('{ key: b }', '{ present_match: true }')}${matcher('{ key: a }', '{ present_match: true }')}
    invert: true`,
    ],
  ])('%s', (_, match, envoy) => {
    expect(messageYaml(RouteMatchSchema, routeMatch(ofGateway(match)))).toBe(
      canonical(`
prefix: /
case_sensitive: true
dynamic_metadata:${envoy}`),
    );
  });

  it('leaves requests to the routes after it', () => {
    expect(
      takesAll(routeMatch(ofGateway("{ withoutHeaders: { '@request.auth.claims.a': {} } }"))),
    ).toBe(false);
  });
});
