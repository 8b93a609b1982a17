import { describe, expect, it } from 'vitest';
import { callerMatches } from '../../../../../src/pilot-discovery/generate/listeners/access-callers.ts';
import type { CallerAttribute } from '../../../../../src/pilot-discovery/istio/security/access-policy.ts';
import { PrincipalSchema } from '../../../../../src/shared/proto/envoy/config/rbac/v3/rbac_pb.ts';
import { canonical, messageYaml } from '../../../../support/golden.ts';

const conditionOf = (
  attribute: CallerAttribute,
  values: readonly string[],
  path: readonly string[] = [],
) => ({ attribute, path, values, notValues: [] });

const token = (name: string, match: string) =>
  `{ metadata: { filter: envoy.filters.http.jwt_authn, path: [{ key: payload }, { key: ${name} }], value: { string_match: ${match} } } }`;

describe('what meets a condition on who calls', () => {
  it.each<[attribute: CallerAttribute, value: string, principal: string]>([
    ['source.principal', 'td/ns/a/sa/b', '{ exact: spiffe://td/ns/a/sa/b }'],
    ['source.principal', 'td/ns/a/*', '{ prefix: spiffe://td/ns/a/ }'],
    ['source.namespace', 'a*', '{ safe_regex: { regex: ".*/ns/a.*/.*" } }'],
    [
      'source.serviceAccount',
      'a/b',
      '{ safe_regex: { regex: "spiffe://.+/ns/a/(.+/|)sa/b(/.+)?" } }',
    ],
  ])('%s %s is a name', (attribute, value, name) => {
    const matches = callerMatches(conditionOf(attribute, [value]), 'tcp', 'cluster.local');
    expect(messageYaml(PrincipalSchema, matches?.some ?? {})).toBe(
      canonical(`or_ids: { ids: [{ authenticated: { principal_name: ${name} } }] }`),
    );
  });

  it.each<[value: string, issuer: string, subject: string]>([
    ['*', '{ safe_regex: { regex: .+ } }', '{ safe_regex: { regex: .+ } }'],
    ['https://a.example.com/me', '{ exact: "https://a.example.com" }', '{ exact: me }'],
    ['a/*', '{ exact: a }', '{ safe_regex: { regex: .+ } }'],
    ['*/me', '{ safe_regex: { regex: .+ } }', '{ exact: me }'],
    ['*a/me', '{ suffix: a }', '{ exact: me }'],
    ['a*', '{ prefix: a }', '{ safe_regex: { regex: .+ } }'],
    ['*me', '{ safe_regex: { regex: .+ } }', '{ suffix: me }'],
  ])('%s is the issuer and the subject of a token', (value, issuer, subject) => {
    const condition = conditionOf('request.auth.principal', [value]);
    const matches = callerMatches(condition, 'http', 'cluster.local');
    expect(messageYaml(PrincipalSchema, matches?.some ?? {})).toBe(
      canonical(`and_ids: { ids: [${token('iss', issuer)}, ${token('sub', subject)}] }`),
    );
    expect(callerMatches(condition, 'tcp', 'cluster.local')).toBeUndefined();
  });

  it('is a claim, or a list that has it', () => {
    const condition = conditionOf('request.auth.claims', ['x'], ['a', 'b']);
    const matches = callerMatches(condition, 'http', 'cluster.local');
    expect(messageYaml(PrincipalSchema, matches?.some ?? {})).toBe(
      canonical(
        'metadata: { filter: envoy.filters.http.jwt_authn, path: [{ key: payload }, { key: a }, { key: b }], value: { or_match: { value_matchers: [{ list_match: { one_of: { string_match: { exact: x } } } }, { string_match: { exact: x } }] } } }',
      ),
    );
  });
});
