import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import {
  accessFilters,
  type AccessPolicyResource,
} from '../../../../../src/pilot-discovery/generate/listeners/access-filters.ts';
import { readResources } from '../../../../../src/pilot-discovery/istio/documents/read-resources.ts';
import type { AnyResource } from '../../../../../src/pilot-discovery/istio/documents/model.ts';
import { published } from '../../../../support/envoy-api.ts';

const isPolicy = (resource: AnyResource): resource is AccessPolicyResource =>
  resource.kind === 'AuthorizationPolicy';

function filtersOf(specs: readonly string[], trustDomain = 'cluster.local') {
  const text = specs
    .map(
      (spec, index) =>
        `apiVersion: security.istio.io/v1\nkind: AuthorizationPolicy\nmetadata: { name: p${index}, namespace: ns${spec.startsWith('#dry') ? ', annotations: { istio.io/dry-run: "true" }' : ''} }\nspec: ${spec.replace('#dry ', '')}\n`,
    )
    .join('---\n');
  const { resources, flaws } = readResources(text, {
    source: 'files',
    path: 'a.yaml',
    defaultNamespace: 'default',
  });
  expect(flaws).toEqual([]);
  return accessFilters(resources.filter(isPolicy), trustDomain);
}

/** Returns the filters as YAML, without the names of their types. */
function yamlOf(filters: ReturnType<typeof filtersOf>['http']): string {
  const read = filters.map(({ configType: { value } }) => {
    const read = published(value.typeUrl, value.value) as Readonly<Record<string, unknown>>;
    return Object.fromEntries(Object.entries(read).filter(([name]) => name !== '@type'));
  });
  return stringify(read, { lineWidth: 0 });
}

const never = `  policies:
      ns[ns]-policy[p0]-rule[0]:
        permissions:
          - not_rule:
              any: true
        principals:
          - not_id:
              any: true
`;

describe('the filters of AuthorizationPolicies', () => {
  it('are none without a policy', () => {
    expect(filtersOf([])).toEqual({ http: [], tcp: [] });
  });

  it('are a golden pair: a policy without rules allows nobody', () => {
    const { http, tcp } = filtersOf(['{}']);
    for (const filters of [http, tcp]) expect(yamlOf(filters)).toContain(never);
  });

  it('are a golden pair: who may call what', () => {
    const { http, tcp } = filtersOf([
      '{ rules: [{ from: [{ source: { principals: [cluster.local/ns/a/sa/b] } }], to: [{ operation: { methods: [GET], paths: ["/a*"] } }] }] }',
    ]);
    expect(yamlOf(http)).toBe(`- rules:
    policies:
      ns[ns]-policy[p0]-rule[0]:
        permissions:
          - and_rules:
              rules:
                - or_rules:
                    rules:
                      - header:
                          name: :method
                          string_match:
                            exact: GET
                - or_rules:
                    rules:
                      - url_path:
                          path:
                            prefix: /a
        principals:
          - and_ids:
              ids:
                - or_ids:
                    ids:
                      - authenticated:
                          principal_name:
                            exact: spiffe://cluster.local/ns/a/sa/b
  shadow_rules_stat_prefix: istio_dry_run_allow_
`);
    // A TCP connection has no method: nothing is allowed.
    expect(yamlOf(tcp)).toBe(`- rules:
    policies: {}
  shadow_rules_stat_prefix: istio_dry_run_allow_
  stat_prefix: tcp.
`);
  });

  it('refuse a connection of TCP that meets what is known of it', () => {
    const { tcp } = filtersOf([
      '{ action: DENY, rules: [{ to: [{ operation: { methods: [GET], ports: ["81"] } }] }] }',
    ]);
    expect(yamlOf(tcp)).toContain(`permissions:
          - and_rules:
              rules:
                - or_rules:
                    rules:
                      - destination_port: 81
`);
  });

  it('are in the order AUDIT, DENY, ALLOW, with dry runs beside', () => {
    const { http } = filtersOf([
      '{ rules: [{}] }',
      '{ action: DENY, rules: [{}] }',
      '{ action: AUDIT, rules: [{}] }',
      '#dry { action: DENY, rules: [{}] }',
    ]);
    const shown = yamlOf(http)
      .split('\n')
      .filter((line) => /action|policy|shadow/.test(line))
      .map((line) => line.trim());
    expect(shown).toEqual([
      'action: LOG',
      'ns[ns]-policy[p2]-rule[0]:',
      'shadow_rules_stat_prefix: istio_dry_run_allow_',
      'action: DENY',
      'ns[ns]-policy[p1]-rule[0]:',
      'shadow_rules:',
      'action: DENY',
      'ns[ns]-policy[p3]-rule[0]:',
      'shadow_rules_stat_prefix: istio_dry_run_deny_',
      'ns[ns]-policy[p0]-rule[0]:',
      'shadow_rules_stat_prefix: istio_dry_run_allow_',
    ]);
  });

  it.each([
    ['cluster.local/ns/a/sa/b', 'exact: spiffe://my.domain/ns/a/sa/b'],
    ['other.domain/ns/a/sa/b', 'exact: spiffe://other.domain/ns/a/sa/b'],
    ['cluster.local/*', 'prefix: spiffe://cluster.local/'],
    ['*', 'regex: .+'],
    ['*/sa/b', 'regex: spiffe://.*/sa/b'],
  ])('have the trust domain of the mesh for cluster.local: %s', (principal, right) => {
    const spec = `{ rules: [{ from: [{ source: { principals: ["${principal}"] } }] }] }`;
    expect(yamlOf(filtersOf([spec], 'my.domain').http)).toContain(right);
  });

  it('name the own namespace for an account without one', () => {
    const spec = '{ rules: [{ from: [{ source: { serviceAccounts: [a, other/b] } }] }] }';
    const text = yamlOf(filtersOf([spec]).http);
    expect(text).toContain('regex: spiffe://.+/ns/ns/(.+/|)sa/a(/.+)?');
    expect(text).toContain('regex: spiffe://.+/ns/other/(.+/|)sa/b(/.+)?');
  });
});
