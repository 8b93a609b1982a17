import { describe, expect, it } from 'vitest';
import { isSameContent } from '../../../../../src/pilot-discovery/istio/documents/is-same-content.ts';
import { readResources } from '../../../../../src/pilot-discovery/istio/documents/read-resources.ts';

const entry = (text: string, path = 'a.yaml') => {
  const { resources } = readResources(
    `apiVersion: networking.istio.io/v1\nkind: DestinationRule\nmetadata: { name: a, labels: { x: '1', y: '2' } }\nspec: ${text}\n`,
    { source: '', path, defaultNamespace: 'default' },
  );
  return resources[0];
};
const plain =
  '{ host: a.mesh, trafficPolicy: { portLevelSettings: [{ port: { number: 80 }, tls: { mode: SIMPLE } }] }, subsets: [{ name: v1, labels: { a: b, c: d } }] }';

describe('the content of a resource', () => {
  it.each([
    ['at another place', plain, true],
    ['with members in another order', plain.replace('{ a: b, c: d }', '{ c: d, a: b }'), true],
    ['with a default written out', plain.replace('{ host', '{ exportTo: ["*"], host'), true],
    ['with another text', plain.replace('a.mesh', 'b.mesh'), false],
    ['with another value in a Map', plain.replace('SIMPLE', 'DISABLE'), false],
  ])('is compared %s', (_, text, isSame) => {
    expect(isSameContent(entry(plain), entry(text, 'b.yaml'))).toBe(isSame);
  });

  it('is that of nothing only for nothing', () => {
    expect(isSameContent(undefined, undefined)).toBe(true);
    expect(isSameContent(entry(plain), undefined)).toBe(false);
    expect(isSameContent(undefined, entry(plain))).toBe(false);
  });
});
