import { describe, expect, it } from 'vitest';
import {
  peerAuthenticationOf,
  selects,
} from '../../../../../src/pilot-discovery/generate/scope/peer-authentication-of.ts';
import { resourceText } from '../../../../support/golden.ts';
import { environmentOf } from '../../../../support/generated.ts';

/** Returns a PeerAuthentication `NAMESPACE/NAME [SECOND]`, created in this second. */
function peers(text: string, spec: string): string {
  const [place = '', second = '0'] = text.split(' ');
  const [namespace = '', name = ''] = place.split('/');
  return resourceText('PeerAuthentication', name, spec, {
    namespace,
    creationTimestamp: `2020-01-01T00:00:0${second}Z`,
  });
}
const strict = '{ mtls: { mode: STRICT } }';
const off = '{ mtls: { mode: DISABLE } }';
const ownSelector = 'selector: { matchLabels: { app: app } }';

/** Returns the mode of a workload of `shop` with the label `app: app`, and those of its ports. */
function modesOf(policies: readonly string[], namespace = 'shop'): string {
  const peerAuthentication = peerAuthenticationOf(environmentOf(policies.join('---\n')), {
    namespace,
    labels: { app: 'app', version: 'v1' },
  });
  return [
    peerAuthentication.mode,
    ...[...peerAuthentication.ports].map(([port, mode]) => `${port}: ${mode}`),
  ].join(', ');
}

describe('the mutual TLS that a workload asks for', () => {
  it.each<[what: string, policies: readonly string[], modes: string]>([
    ['nothing said', [], 'permissive'],
    ['by the mesh', [peers('istio-system/m', strict)], 'strict'],
    [
      'by the namespace, before the mesh',
      [peers('istio-system/m', strict), peers('shop/n', off)],
      'disable',
    ],
    [
      'by the workload, before the namespace',
      [peers('shop/n', off), peers('shop/w', `{ ${ownSelector}, mtls: { mode: STRICT } }`)],
      'strict',
    ],
    [
      'by the level above, if a policy says none',
      [
        peers('istio-system/m', strict),
        peers('shop/n', '{ mtls: { mode: UNSET } }'),
        peers('shop/w', `{ ${ownSelector} }`),
      ],
      'strict',
    ],
    [
      'by port',
      [
        peers(
          'shop/w',
          `{ ${ownSelector}, mtls: { mode: STRICT }, portLevelMtls: { 80: { mode: DISABLE }, 81: { mode: UNSET } } }`,
        ),
      ],
      'strict, 80: disable',
    ],
    ['by the older of two', [peers('shop/young 2', off), peers('shop/old 1', strict)], 'strict'],
    [
      'nothing by other workloads and other namespaces',
      [
        peers('shop/w', '{ selector: { matchLabels: { app: b } }, mtls: { mode: STRICT } }'),
        peers('other/n', strict),
      ],
      'permissive',
    ],
    [
      'by the namespace, if a selector is empty',
      [peers('shop/n', '{ selector: { matchLabels: {} }, mtls: { mode: STRICT } }')],
      'strict',
    ],
  ])('%s: %s', (_, policies, modes) => {
    expect(modesOf(policies)).toBe(modes);
  });

  it('is that of the mesh in the root namespace, whatever a selector there says', () => {
    const policies = [
      peers('istio-system/m', strict),
      peers('istio-system/w', `{ ${ownSelector}, mtls: { mode: DISABLE } }`),
    ];
    expect(modesOf(policies, 'istio-system')).toBe('strict');
  });
});

it.each([
  ['no label', {}, true],
  ['a label', { app: 'app' }, true],
  ['all labels', { app: 'app', version: 'v1' }, true],
  ['another value', { app: 'b' }, false],
  ['a label that is not there', { app: 'app', zone: 'a' }, false],
  ['what every object has', { constructor: 'a' }, false],
])('a selector with %s', (_, selector, selected) => {
  expect(selects(selector, { app: 'app', version: 'v1' })).toBe(selected);
});
