import { describe, expect, it } from 'vitest';
import { accessOf } from '../../../../../src/pilot-discovery/generate/listeners/access-of.ts';
import { proxyIn, resourceText } from '../../../../support/golden.ts';
import { published } from '../../../../support/envoy-api.ts';
import { environmentOf } from '../../../../support/generated.ts';

/** The mode of the ports 80, 90 and others of a workload with the label `app: app`. */
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

/** A policy of which a provider decides. */
const custom = (rule: string, more = '') =>
  `{ action: CUSTOM, provider: { name: p }, rules: [${rule}]${more} }`;

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
      'nobody, for it is not known who decides',
      [policy(custom('{ from: [{ source: { namespaces: [a] } }] }'))],
      ['closed', 'closed', 'closed'],
    ],
    [
      'nobody at the port for which it is not known who decides',
      [policy(custom('{ to: [{ operation: { ports: ["90"] } }] }'))],
      ['permissive', 'closed', 'permissive'],
    ],
    [
      'nobody, by a policy of the mesh',
      [
        policy(custom('{ from: [{ source: { namespaces: [a] } }] }'), {
          namespace: 'istio-system',
        }),
      ],
      ['closed', 'closed', 'closed'],
    ],
    [
      'everybody, for the policy selects others',
      [policy(custom('{}', ', selector: { matchLabels: { app: b } }'))],
      ['permissive', 'permissive', 'permissive'],
    ],
    [
      'everybody, for the policy is of another namespace',
      [policy(custom('{}'), { namespace: 'other' })],
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

  it('looks at tokens before it looks at what policies say of them', () => {
    const environment = environmentOf(
      `${policy('{ action: DENY, rules: [{ from: [{ source: { notRequestPrincipals: ["*"] } }] }] }')}---\n${tokens('r', '[{ issuer: a, jwks: \'{"keys":[]}\' }]')}`,
    );
    const { filters, of } = accessOf(environment, proxyIn(''));
    expect(filters.http.map(({ name }) => name)).toEqual([
      'envoy.filters.http.jwt_authn',
      'envoy.filters.http.rbac',
    ]);
    expect(filters.tcp.map(({ name }) => name)).toEqual(['envoy.filters.network.rbac']);
    expect(of).toEqual(['AuthorizationPolicy/default/a', 'RequestAuthentication/default/r']);
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
      `${peers('{ selector: { matchLabels: { app: app } }, portLevelMtls: { 82: { mode: STRICT } } }')}---\n${policy(custom('{ to: [{ operation: { ports: ["81", "80"] } }] }'))}`,
    );
    const { ports, of } = accessOf(environment, proxyIn(''));
    expect(ports).toEqual([80, 81, 82]);
    expect(of).toEqual(['PeerAuthentication/default/p', 'AuthorizationPolicy/default/a']);
  });
});
