import { describe, expect, it } from 'vitest';
import { tokenFilter } from '../../../../../src/pilot-discovery/generate/listeners/token-filter.ts';
import { FilterChainSchema } from '../../../../../src/shared/proto/envoy/config/listener/v3/listener_components_pb.ts';
import { canonical, messageYaml, specIn } from '../../../../support/golden.ts';

const keys = '{"keys":[{"kty":"oct","k":"AQAB"}]}';

function printed(
  rules: string,
  role: 'sidecar' | 'router' = 'sidecar',
  fetched: ReadonlyMap<string, string> = new Map(),
): string {
  const { effect } = specIn('RequestAuthentication', `jwtRules: ${rules}`);
  const filter = tokenFilter(effect.type === 'tokens' ? effect.rules : [], fetched, role);
  return messageYaml(FilterChainSchema, filter && { filters: [filter as never] });
}

const filter = (text: string) =>
  canonical(`
filters:
  - name: envoy.filters.http.jwt_authn
    typed_config:
      "@type": type.googleapis.com/envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication
      bypass_cors_preflight: true
${text.replace(/^(?=.)/gm, '      ')}`);

const always = `
    payload_in_metadata: payload
    normalize_payload_in_metadata: { space_delimited_claims: [scope, permission] }`;

describe('the filter that looks at tokens', () => {
  it('has one issuer, whose token may be missing', () => {
    expect(printed(`[{ issuer: a, jwks: '${keys}' }]`)).toBe(
      filter(`
providers:
  origins-0:
    issuer: a
    local_jwks: { inline_string: '${keys}' }${always}
rules:
  - match: { prefix: / }
    requires: { requires_any: { requirements: [{ provider_name: origins-0 }, { allow_missing: {} }] } }`),
    );
  });

  it('has several, by name: one valid token is enough, or none', () => {
    expect(printed(`[{ issuer: b, jwks: '${keys}' }, { issuer: a, jwks: '${keys}' }]`)).toBe(
      filter(`
providers:
  origins-0:
    issuer: a
    local_jwks: { inline_string: '${keys}' }${always}
  origins-1:
    issuer: b
    local_jwks: { inline_string: '${keys}' }${always}
rules:
  - match: { prefix: / }
    requires:
      requires_any:
        requirements:
          - provider_name: origins-0
          - provider_name: origins-1
          - requires_all:
              requirements:
                - requires_any: { requirements: [{ provider_name: origins-0 }, { allow_missing: {} }] }
                - requires_any: { requirements: [{ provider_name: origins-1 }, { allow_missing: {} }] }`),
    );
  });

  it('has all that a rule says, and chooses the route of a gateway again', () => {
    const rule = `
- issuer: a
  jwks: '${keys}'
  audiences: [b, c]
  fromHeaders: [{ name: x-token }, { name: Authorization, prefix: 'Token ' }]
  fromParams: [d]
  fromCookies: [e]
  forwardOriginalToken: true
  outputPayloadToHeader: x-payload
  outputClaimToHeaders: [{ header: x-sub, claim: sub }, { header: x-b, claim: a.b }]
  timeout: 1s`;
    expect(printed(rule, 'router')).toBe(
      filter(`
providers:
  origins-0:
    issuer: a
    audiences: [b, c]
    local_jwks: { inline_string: '${keys}' }
    forward: true
    from_headers: [{ name: x-token }, { name: Authorization, value_prefix: 'Token ' }]
    from_params: [d]
    from_cookies: [e]
    forward_payload_header: x-payload
    claim_to_headers: [{ header_name: x-sub, claim_name: sub }, { header_name: x-b, claim_name: a.b }]
    clear_route_cache: true${always}
rules:
  - match: { prefix: / }
    requires: { requires_any: { requirements: [{ provider_name: origins-0 }, { allow_missing: {} }] } }`),
    );
  });

  it('has the keys that were fetched, and of nobody until then', () => {
    const rules =
      '[{ issuer: a, jwksUri: "https://a.example.com/keys" }, { issuer: "https://b/" }]';
    const none = printed(rules);
    expect(none.match(/"kid":"nobody"/g)).toHaveLength(2);
    const some = printed(
      rules,
      'sidecar',
      new Map([
        ['keys https://a.example.com/keys', 'KEYS OF A'],
        ['discovery https://b/.well-known/openid-configuration', 'KEYS OF B'],
      ]),
    );
    expect(some).toMatch(/issuer: a\n.*\n\s+inline_string: KEYS OF A/);
    expect(some).toMatch(/issuer: https:\/\/b\/\n.*\n\s+inline_string: KEYS OF B/);
  });

  it('is not there without rules', () => {
    expect(tokenFilter([], new Map(), 'sidecar')).toBeUndefined();
  });
});
