import { describe, expect, it } from 'vitest';
import { accessOf } from '../../../../../src/pilot-discovery/generate/listeners/access-of.ts';
import { inputsOfListeners } from '../../../../../src/pilot-discovery/generate/listeners/listeners.ts';
import { FilterChainSchema } from '../../../../../src/shared/proto/envoy/config/listener/v3/listener_components_pb.ts';
import { leftOut } from '../../../../../src/pilot-discovery/state/push-status.ts';
import { clustersOf, environmentOf } from '../../../../support/generated.ts';
import {
  canonical,
  meshIn,
  messageYaml,
  proxyIn,
  resourceText,
} from '../../../../support/golden.ts';

const mesh = meshIn(`
extensionProviders:
  - name: http
    envoyExtAuthzHttp: { service: authz.mesh, port: 8000 }
  - name: http-in-full
    envoyExtAuthzHttp:
      service: shop/authz.mesh
      port: 8000
      timeout: 1.5s
      failOpen: true
      statusOnError: '503'
      clearRouteCache: true
      pathPrefix: /check
      includeRequestHeadersInCheck: [x-a, 'x-b*', '*-c']
      includeAdditionalHeadersInCheck: { x-z: '%REQ(x-y)%', x-d: e }
      includeRequestBodyInCheck: { maxRequestBytes: 4096, allowPartialMessage: true, packAsBytes: true }
      headersToUpstreamOnAllow: [x-u]
      headersToDownstreamOnDeny: [x-v]
      headersToDownstreamOnAllow: [x-w]
  - name: grpc
    envoyExtAuthzGrpc: { service: authz.mesh, port: 9000, failOpen: true }
`);

const service = (namespace = 'shop', ports = '{ number: 8000, name: http }') =>
  resourceText(
    'ServiceEntry',
    'authz',
    `{ hosts: [authz.mesh], ports: [${ports}, { number: 9000, name: grpc }], resolution: STATIC, endpoints: [{ address: 10.0.0.9 }] }`,
    { namespace },
  );
const asking = (provider: string, rule = '{}', more = '', metadata = {}) =>
  resourceText(
    'AuthorizationPolicy',
    'a',
    `{ action: CUSTOM, provider: { name: ${provider} }, rules: [${rule}]${more} }`,
    metadata,
  );

const environmentWith = (resources: readonly string[]) =>
  environmentOf(resources.join('---\n'), { mesh });

const types = 'type.googleapis.com/envoy.extensions.filters';

/** Prints the filters of policies, for HTTP or for TCP. */
function printed(layer: 'http' | 'tcp', ...resources: readonly string[]): string {
  const { filters } = accessOf(environmentWith(resources), proxyIn(''));
  return messageYaml(FilterChainSchema, { filters: [...filters[layer]] as never });
}

const anything = `
  permissions: [{ and_rules: { rules: [{ any: true }] } }]
  principals: [{ and_ids: { ids: [{ any: true }] } }]`;
const rule = 'istio-ext-authz-ns[default]-policy[a]-rule[0]';
const onlyIf = (layer: string) => `
filter_enabled_metadata:
  filter: envoy.filters.${layer}.rbac
  path: [{ key: istio_ext_authz_shadow_effective_policy_id }]
  value: { string_match: { prefix: istio-ext-authz } }`;

const indented = (text: string, by: string) => text.replace(/^(?=.)/gm, by);

/** Returns filters as YAML: `rbac` and `ext_authz` of HTTP or of the network. */
const filters = (layer: 'http' | 'network', ...each: readonly (readonly [string, string])[]) =>
  canonical(
    `filters:${each
      .map(
        ([name, text]) => `
  - name: envoy.filters.${layer}.${name}
    typed_config:
      "@type": ${types}.${layer}.${name}.v3.${name === 'rbac' ? 'RBAC' : 'ExtAuthz'}${indented(text, '      ')}`,
      )
      .join('')}`,
  );

const shadowRules = (more = ''): readonly [string, string] => [
  'rbac',
  `
shadow_rules: { action: DENY, policies: { '${rule}': {${anything.replaceAll('\n', ', ').slice(1)} } } }
shadow_rules_stat_prefix: istio_ext_authz_${more}`,
];
const refused = (more = ''): readonly [string, string] => [
  'rbac',
  `
rules: { action: DENY, policies: { '${rule}-deny-due-to-bad-CUSTOM-action': {${anything.replaceAll('\n', ', ').slice(1)} } } }${more}`,
];

describe('the filters of policies with CUSTOM', () => {
  it('ask an authorizer by HTTP', () => {
    expect(printed('http', service(), asking('http'))).toBe(
      filters('http', shadowRules(), [
        'ext_authz',
        `
transport_api_version: V3
http_service:
  server_uri: { uri: 'http://authz.mesh', cluster: outbound|8000||authz.mesh, timeout: 600s }${onlyIf('http')}`,
      ]),
    );
  });

  it('ask an authorizer by HTTP, with all that can be said of it', () => {
    expect(printed('http', service(), asking('http-in-full'))).toBe(
      filters('http', shadowRules(), [
        'ext_authz',
        `
transport_api_version: V3
failure_mode_allow: true
clear_route_cache: true
status_on_error: { code: ServiceUnavailable }
with_request_body: { max_request_bytes: 4096, allow_partial_message: true, pack_as_bytes: true }
allowed_headers:
  patterns:
    - { exact: x-a, ignore_case: true }
    - { prefix: x-b, ignore_case: true }
    - { suffix: -c, ignore_case: true }
http_service:
  path_prefix: /check
  server_uri: { uri: 'http://authz.mesh', cluster: outbound|8000||authz.mesh, timeout: 1.500s }
  authorization_request:
    headers_to_add: [{ key: x-d, value: e }, { key: x-z, value: '%REQ(x-y)%' }]
  authorization_response:
    allowed_upstream_headers: { patterns: [{ exact: x-u, ignore_case: true }] }
    allowed_client_headers: { patterns: [{ exact: x-v, ignore_case: true }] }
    allowed_client_headers_on_success: { patterns: [{ exact: x-w, ignore_case: true }] }${onlyIf('http')}`,
      ]),
    );
  });

  const grpcService = `
transport_api_version: V3
failure_mode_allow: true
grpc_service:
  envoy_grpc: { cluster_name: outbound|9000||authz.mesh, authority: authz.mesh }
  timeout: 600s`;

  it('ask an authorizer by gRPC, about requests and about connections', () => {
    expect(printed('http', service(), asking('grpc'))).toBe(
      filters('http', shadowRules(), ['ext_authz', `${grpcService}${onlyIf('http')}`]),
    );
    expect(printed('tcp', service(), asking('grpc'))).toBe(
      filters('network', shadowRules('\nstat_prefix: tcp.'), [
        'ext_authz',
        `${grpcService}\nstat_prefix: tcp.${onlyIf('network')}`,
      ]),
    );
  });

  it('refuse connections that an authorizer of HTTP would have to be asked about', () => {
    expect(printed('tcp', service(), asking('http'))).toBe(
      filters('network', refused('\nstat_prefix: tcp.')),
    );
  });

  it.each([
    ['a provider that the mesh does not have', [service(), asking('other')]],
    ['a service that is not there', [asking('http')]],
    ['a service of another namespace', [service('other'), asking('http-in-full')]],
    ['services of two namespaces', [service(), service('other'), asking('grpc')]],
  ])('refuse what they are for, if they name %s', (_, resources) => {
    expect(printed('http', ...resources)).toBe(filters('http', refused()));
    expect(printed('tcp', ...resources)).toBe(filters('network', refused('\nstat_prefix: tcp.')));
    const [flaw] = leftOut(environmentWith(resources));
    expect(flaw).toMatchObject({
      key: 'AuthorizationPolicy/default/a',
      field: 'spec.provider.name',
      severity: 'warning',
    });
    expect(flaw?.reason).toMatch(/, so the calls that it matches are refused$/);
  });

  it('refuse what two policies are for that ask two authorizers for one workload', () => {
    const other = asking('grpc', '{}', '', { name: 'b' });
    const all = printed('http', service(), asking('http'), other);
    expect(all.match(/deny-due-to-bad-CUSTOM-action/g)).toHaveLength(2);
    expect(all).not.toContain('ext_authz.v3');
    const flaws = (...resources: readonly string[]) =>
      leftOut(environmentWith([service(), ...resources])).map(({ reason }) => reason);
    expect(flaws(asking('http'), other)).toEqual([
      'AuthorizationPolicy/default/b asks grpc for the same workloads, so the calls that it matches are refused',
      'AuthorizationPolicy/default/a asks http for the same workloads, so the calls that it matches are refused',
    ]);
    const select = (app: string) => `, selector: { matchLabels: { app: ${app} } }`;
    expect(
      flaws(asking('http', '{}', select('app')), asking('grpc', '{}', select('b'), { name: 'b' })),
    ).toEqual([]);
    expect(flaws(asking('http'), asking('grpc', '{}', '', { namespace: 'elsewhere' }))).toEqual([]);
    expect(
      flaws(asking('http'), asking('grpc', '{}', '', { namespace: 'istio-system' })),
    ).toHaveLength(1);
  });

  it('ask one authorizer about the rules of several policies', () => {
    const all = printed(
      'http',
      service(),
      asking('http', '{ to: [{ operation: { paths: [/a] } }] }'),
      asking('http', '{}, {}', '', { name: 'b', namespace: 'istio-system' }),
    );
    expect(all.match(/istio-ext-authz-ns\[[^:]*/g)).toEqual([
      'istio-ext-authz-ns[default]-policy[a]-rule[0]',
      'istio-ext-authz-ns[istio-system]-policy[b]-rule[0]',
      'istio-ext-authz-ns[istio-system]-policy[b]-rule[1]',
    ]);
  });
});

describe('a change of the service of an authorizer', () => {
  it.each(['sidecar', 'router'])('makes the listeners of a %s again', (role) => {
    const node = proxyIn('', { id: `${role}~10.0.0.1~app.default~default.svc.cluster.local` });
    const inputs = (...resources: readonly string[]) =>
      inputsOfListeners(environmentWith([asking('http'), ...resources]), node);
    expect(inputs(service())).not.toEqual(inputs());
    expect(JSON.stringify(inputs(service()))).toBe(JSON.stringify(inputs(service())));
  });
});

describe('the clusters of a gateway', () => {
  const router = proxyIn('{ LABELS: { istio: gateway } }', {
    id: 'router~10.0.0.1~g.default~default.svc.cluster.local',
  });
  const names = (...resources: readonly string[]) =>
    clustersOf(environmentWith(resources), router).map(({ name }) => name);

  it('have that of the authorizer that its policies ask', () => {
    expect(names(service())).toEqual(['BlackHoleCluster']);
    expect(names(service(), asking('grpc'))).toEqual([
      'BlackHoleCluster',
      'outbound|9000||authz.mesh',
    ]);
    const others = ', selector: { matchLabels: { app: other } }';
    expect(names(service(), asking('grpc', '{}', others))).toEqual(['BlackHoleCluster']);
    expect(names(service(), asking('other'))).toEqual(['BlackHoleCluster']);
  });
});
