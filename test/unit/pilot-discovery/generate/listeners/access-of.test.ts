import { describe, expect, it } from 'vitest';
import { accessOf } from '../../../../../src/pilot-discovery/generate/listeners/access-of.ts';
import { proxyIn, resourceText } from '../../../../support/golden.ts';
import { environmentOf } from '../../../../support/generated.ts';

/** The mode of the ports 80 (HTTP) and 90 (TCP) of a workload with the label `app: app`. */
function modesOf(...resources: readonly string[]): readonly string[] {
  const { modeAt } = accessOf(environmentOf(resources.join('---\n')), proxyIn(''));
  return [modeAt(80, 'http'), modeAt(90, 'tcp'), modeAt(undefined, 'auto')];
}
const peers = (spec: string, metadata = {}) =>
  resourceText('PeerAuthentication', 'p', spec, metadata);
const policy = (spec: string, metadata = {}) =>
  resourceText('AuthorizationPolicy', 'a', spec, metadata);

/** A policy of which a provider decides. */
const custom = (rule: string, more = '') =>
  `{ action: CUSTOM, provider: { name: p }, rules: [${rule}]${more} }`;

describe('who may connect to the ports of a workload: 80 (HTTP), 90 (TCP) and others', () => {
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
    [
      'nobody by HTTP, of whom a RequestAuthentication would ask a token',
      [
        resourceText(
          'RequestAuthentication',
          'r',
          `{ jwtRules: [{ issuer: a, jwks: '{"keys":[]}' }] }`,
        ),
      ],
      ['closed', 'permissive', 'closed'],
    ],
  ])('%s', (_, resources, modes) => {
    expect(modesOf(...resources)).toEqual(modes);
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
