import { describe, expect, it } from 'vitest';
import {
  authorityOf,
  headersToAdd,
} from '../../../../../src/pilot-discovery/generate/routes/header-operations.ts';
import { RouteSchema } from '../../../../../src/shared/proto/envoy/config/route/v3/route_components_pb.ts';
import { canonical, httpRouteIn, messageYaml } from '../../../../support/golden.ts';

const request = (operations: string) =>
  httpRouteIn(`headers: { request: ${operations} }`).headers.request;

describe('the headers that a route sets and adds, as Envoy has them', () => {
  it.each<[what: string, operations: string, added: string]>([
    ['none', '{}', '{}'],
    [
      'a value that replaces those of the request',
      '{ set: { x-a: "1" } }',
      '[{ header: { key: x-a, value: "1" }, append_action: OVERWRITE_IF_EXISTS_OR_ADD }]',
    ],
    ['one more value', '{ add: { x-a: "1" } }', '[{ header: { key: x-a, value: "1" } }]'],
    [
      'those that are set before those that are added, each by name',
      '{ add: { b: "1", a: "2" }, set: { d: "3", c: "4" }, remove: [e] }',
      `
- { header: { key: c, value: "4" }, append_action: OVERWRITE_IF_EXISTS_OR_ADD }
- { header: { key: d, value: "3" }, append_action: OVERWRITE_IF_EXISTS_OR_ADD }
- { header: { key: a, value: "2" } }
- { header: { key: b, value: "1" } }`,
    ],
    [
      'the host, which is not a header to Envoy',
      '{ set: { Host: a.mesh, x-a: "1" }, add: { x-b: "2" } }',
      `
- { header: { key: x-a, value: "1" }, append_action: OVERWRITE_IF_EXISTS_OR_ADD }
- { header: { key: x-b, value: "2" } }`,
    ],
  ])('%s', (_, operations, added) => {
    const message = { requestHeadersToAdd: headersToAdd(request(operations)) };
    expect(messageYaml(RouteSchema, message)).toBe(
      canonical(added === '{}' ? '{}' : `request_headers_to_add: ${added}`),
    );
  });
});

it.each([
  ['{ set: { host: a.mesh } }', 'a.mesh'],
  ['{ add: { HOST: a.mesh } }', 'a.mesh'],
  ['{ set: { ":authority": a.mesh } }', 'a.mesh'],
  ['{ set: { x-host: a.mesh }, remove: [x-b] }', undefined],
])('the operations %s put %s in place of the host', (operations, host) => {
  expect(authorityOf(request(operations))).toBe(host);
});
