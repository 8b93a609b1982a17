import { expect, it } from 'vitest';
import { serviceModeOf } from '../../../../../src/pilot-discovery/generate/scope/service-mode.ts';
import { resourceText } from '../../../../support/golden.ts';
import { environmentOf } from '../../../../support/generated.ts';

const peers = (namespace: string, mode: string, selector = '') =>
  resourceText('PeerAuthentication', 'p', `{ mtls: { mode: ${mode} }, ${selector} }`, {
    namespace,
  });

it.each<[what: string, policies: readonly string[], mode: string]>([
  ['nothing is said', [], 'mutual'],
  ['the namespace disables it', [peers('default', 'DISABLE')], 'disable'],
  ['the mesh disables it', [peers('istio-system', 'DISABLE')], 'disable'],
  [
    'the namespace asks for it in a mesh that disables it',
    [peers('istio-system', 'DISABLE'), peers('default', 'STRICT')],
    'mutual',
  ],
  [
    'the namespace says nothing in a mesh that disables it',
    [peers('istio-system', 'DISABLE'), peers('default', 'UNSET')],
    'disable',
  ],
  ['another namespace disables it', [peers('other', 'DISABLE')], 'mutual'],
  [
    'workloads of the namespace disable it',
    [peers('default', 'DISABLE', 'selector: { matchLabels: { app: a } }')],
    'mutual',
  ],
])('services of a namespace may be asked for mutual TLS, %s: %s', (_, policies, mode) => {
  expect(serviceModeOf(environmentOf(policies.join('---\n')), 'default')).toBe(mode);
});
