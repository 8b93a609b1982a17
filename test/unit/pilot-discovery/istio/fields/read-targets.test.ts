import { describe, expect, it } from 'vitest';
import { readResources } from '../../../../../src/pilot-discovery/istio/documents/read-resources.ts';

const place = { source: 'files', path: 'a.yaml', defaultNamespace: 'default' };
const jwks = JSON.stringify({ keys: [{ kty: 'oct', k: 'AQAB' }] });

const read = (kind: string, spec: object) => {
  const apiVersion = `${kind === 'Telemetry' ? 'telemetry' : 'security'}.istio.io/v1`;
  const resource = { apiVersion, kind, metadata: { name: 'a' }, spec };
  const { resources, flaws } = readResources(JSON.stringify(resource), place);
  return { specs: resources.map(({ spec: readSpec }) => readSpec), flaws };
};

describe.each([
  ['AuthorizationPolicy', { action: 'DENY', rules: [{}], selector: { matchLabels: { a: 'b' } } }],
  ['RequestAuthentication', { jwtRules: [{ issuer: 'a', jwks }] }],
  ['Telemetry', { accessLogging: [{ disabled: true }] }],
])('%s', (kind, spec) => {
  it('applies to workloads if its list of targets is empty', () => {
    const plain = read(kind, spec);
    expect(plain).toMatchObject({ specs: [expect.anything()], flaws: [] });
    expect(read(kind, { ...spec, targetRefs: [] })).toEqual(plain);
    expect(read(kind, { ...spec, targetRefs: null })).toEqual(plain);
  });

  it('is refused if a target has no name', () => {
    const { flaws } = read(kind, { ...spec, targetRefs: [{ kind: 'Service' }] });
    expect(flaws.map(({ field, severity }) => [field, severity])).toContainEqual([
      'spec.targetRefs[0].name',
      'error',
    ]);
  });
});
