import { describe, expect, it } from 'vitest';
import { accessOf } from '../../../../../src/pilot-discovery/generate/listeners/access-of.ts';
import { proxyIn, resourceText } from '../../../../support/golden.ts';
import { published } from '../../../../support/envoy-api.ts';
import { environmentOf } from '../../../../support/generated.ts';

/** Returns the mode of the ports 80, 90 and others of a workload with the label `app: app`. */
function modesOf(...resources: readonly string[]): readonly string[] {
  const { modeAt } = accessOf(environmentOf(resources.join('---\n')), proxyIn(''));
  return [modeAt(80), modeAt(90), modeAt(undefined)];
}
const peers = (spec: string, metadata = {}) =>
  resourceText('PeerAuthentication', 'p', spec, metadata);
const policy = (spec: string, metadata = {}) =>
  resourceText('AuthorizationPolicy', 'a', spec, metadata);

const tokens = (name: string, rules: string, metadata = {}, more = '') =>
  resourceText('RequestAuthentication', name, `{ jwtRules: ${rules}${more} }`, metadata);

const asks = '{ action: CUSTOM, provider: { name: p }, rules: [{}] }';

describe('who may connect to the ports of a workload: 80, 90 and others', () => {
  it.each<[what: string, resources: readonly string[], modes: readonly string[]]>([
    ['everybody', [], ['permissive', 'permissive', 'permissive']],
    ['peers of the mesh', [peers('{ mtls: { mode: STRICT } }')], ['strict', 'strict', 'strict']],
    [
      'at one port everybody',
      [
        peers(
          '{ selector: { matchLabels: { app: app } }, mtls: { mode: STRICT }, portLevelMtls: { 80: { mode: DISABLE } } }',
        ),
      ],
      ['disable', 'strict', 'strict'],
    ],
    [
      'whom a provider lets in, by filters and not by ports',
      [policy(asks)],
      ['permissive', 'permissive', 'permissive'],
    ],
    [
      'who may, by filters and not by ports',
      [policy('{ rules: [{ from: [{ source: { namespaces: [a] } }] }] }')],
      ['permissive', 'permissive', 'permissive'],
    ],
  ])('%s', (_, resources, modes) => {
    expect(modesOf(...resources)).toEqual(modes);
  });

  it('asks a provider before it looks at tokens, for the workloads that a policy selects', () => {
    const filtersOf = (...resources: readonly string[]) => {
      const { filters } = accessOf(environmentOf(resources.join('---\n')), proxyIn(''));
      return [filters.http, filters.tcp].map((all) => all.map(({ name }) => name));
    };
    const others = [
      policy('{ rules: [{}] }', { name: 'b' }),
      tokens('r', '[{ issuer: a, jwks: \'{"keys":[]}\' }]'),
    ];
    const without = [
      ['envoy.filters.http.jwt_authn', 'envoy.filters.http.rbac'],
      ['envoy.filters.network.rbac'],
    ];
    const refused = [
      ['envoy.filters.http.rbac', ...(without[0] ?? [])],
      ['envoy.filters.network.rbac', ...(without[1] ?? [])],
    ];
    expect(filtersOf(policy(asks), ...others)).toEqual(refused);
    expect(filtersOf(policy(asks, { namespace: 'istio-system' }), ...others)).toEqual(refused);
    expect(filtersOf(policy(asks, { namespace: 'other' }), ...others)).toEqual(without);
    const elsewhere = asks.replace('rules', 'selector: { matchLabels: { app: b } }, rules');
    expect(filtersOf(policy(elsewhere), ...others)).toEqual(without);
  });

  it('looks at tokens before it looks at what policies say of them', () => {
    const environment = environmentOf(
      `${policy('{ action: DENY, rules: [{ from: [{ source: { notRequestPrincipals: ["*"] } }] }] }')}---\n${tokens('r', '[{ issuer: a, jwks: \'{"keys":[]}\' }]')}`,
    );
    const { filters, resourceKeys } = accessOf(environment, proxyIn(''));
    expect(filters.http.map(({ name }) => name)).toEqual([
      'envoy.filters.http.jwt_authn',
      'envoy.filters.http.rbac',
    ]);
    expect(filters.tcp.map(({ name }) => name)).toEqual(['envoy.filters.network.rbac']);
    expect(resourceKeys).toEqual([
      'AuthorizationPolicy/default/a',
      'RequestAuthentication/default/r',
    ]);
  });

  it('asks for tokens by all that select it: of its namespace, then of the mesh', () => {
    const rule = (audience: string) =>
      `[{ issuer: a, audiences: [${audience}], jwks: '{"keys":[]}' }]`;
    const environment = environmentOf(
      [
        tokens('root', rule('of-the-mesh'), { namespace: 'istio-system' }),
        tokens('b', rule('of-b')),
        tokens('c', rule('of-c'), { creationTimestamp: '2020-01-01T00:00:00Z' }),
        tokens('other', rule('of-others'), {}, ', selector: { matchLabels: { app: other } }'),
        tokens('elsewhere', rule('elsewhere'), { namespace: 'elsewhere' }),
      ].join('---\n'),
    );
    const [filter] = accessOf(environment, proxyIn('')).filters.http;
    const { providers } = JSON.parse(
      JSON.stringify(
        published(
          filter?.configType.value.typeUrl ?? '',
          filter?.configType.value.value ?? new Uint8Array(),
        ),
      ),
    ) as { readonly providers: Readonly<Record<string, { readonly audiences: unknown }>> };
    expect(Object.values(providers).map(({ audiences }) => audiences)).toEqual([
      ['of-b'],
      ['of-c'],
      ['of-the-mesh'],
    ]);
  });

  it('lists the ports of which something is said, and what says it', () => {
    const environment = environmentOf(
      `${peers('{ selector: { matchLabels: { app: app } }, portLevelMtls: { 82: { mode: STRICT }, 80: { mode: DISABLE } } }')}---\n${policy(asks)}`,
    );
    const { ports, resourceKeys } = accessOf(environment, proxyIn(''));
    expect(ports).toEqual([80, 82]);
    expect(resourceKeys).toEqual(['PeerAuthentication/default/p', 'AuthorizationPolicy/default/a']);
  });
});
