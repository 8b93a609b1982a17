import { describe, expect, it } from 'vitest';
import {
  outboundPolicyOf,
  sidecarOf,
} from '../../../../../src/pilot-discovery/generate/scope/sidecar-of.ts';
import { meshIn, proxyIn, resourceText } from '../../../../support/golden.ts';
import { environmentOf } from '../../../../support/generated.ts';

const all = '{ egress: [{ hosts: ["*/*"] }] }';
/** Returns a Sidecar `NAMESPACE/NAME [SECOND]`, created in this second. */
function sidecar(text: string, spec = all): string {
  const [place = '', second = '0'] = text.split(' ');
  const [namespace = '', name = ''] = place.split('/');
  return resourceText('Sidecar', name, spec, {
    namespace,
    creationTimestamp: `2020-01-01T00:00:0${second}Z`,
  });
}
const selectingSpec =
  '{ workloadSelector: { labels: { app: app } }, egress: [{ hosts: ["*/*"] }] }';
const others = '{ workloadSelector: { labels: { app: b } }, egress: [{ hosts: ["*/*"] }] }';

describe('the Sidecar of a proxy', () => {
  it.each<[what: string, sidecars: readonly string[], name: string | undefined]>([
    ['none', [], undefined],
    ['of its namespace', [sidecar('default/n')], 'n'],
    ['that selects it', [sidecar('default/n'), sidecar('default/w 1', selectingSpec)], 'w'],
    [
      'the older that selects it',
      [sidecar('default/b 1', selectingSpec), sidecar('default/a 2', selectingSpec)],
      'b',
    ],
    ['none that selects others', [sidecar('default/w', others)], undefined],
    ['of the mesh', [sidecar('istio-system/m'), sidecar('default/w', others)], 'm'],
    ['of its namespace, before the mesh', [sidecar('istio-system/m'), sidecar('default/n 1')], 'n'],
    ['none of the mesh that selects', [sidecar('istio-system/m', selectingSpec)], undefined],
    ['none of another namespace', [sidecar('other/n')], undefined],
  ])('%s', (_, sidecars, name) => {
    expect(sidecarOf(environmentOf(sidecars.join('---\n')), proxyIn(''))?.name).toBe(name);
  });

  it.each([
    ['ALLOW_ANY', all, 'allow-any'],
    ['REGISTRY_ONLY', all, 'registry-only'],
    ['REGISTRY_ONLY', '{ outboundTrafficPolicy: { mode: ALLOW_ANY } }', 'allow-any'],
    ['ALLOW_ANY', '{ outboundTrafficPolicy: { mode: REGISTRY_ONLY } }', 'registry-only'],
  ])('decides where the rest goes: %s in the mesh, %s in the Sidecar', (mode, spec, policy) => {
    const mesh = meshIn(`outboundTrafficPolicy: { mode: ${mode} }`);
    const environment = environmentOf(sidecar('default/s', spec), { mesh });
    expect(outboundPolicyOf(environment, proxyIn(''))).toBe(policy);
  });
});
