import { BlockList } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  canonicalAddress,
  canonicalHost,
} from '../../../../../src/pilot-discovery/istio/fields/canonical.ts';
import { environmentOf } from '../../../../support/generated.ts';

const families = [
  { family: 'ipv4', bits: 32, address: fc.ipV4() },
  { family: 'ipv6', bits: 128, address: fc.ipV6() },
] as const;

describe('the canonical form', () => {
  it.each([
    ['240.1.2.3/16', '240.1.0.0/16'],
    ['240.1.9.9/16', '240.1.0.0/16'],
    ['10.255.255.255/9', '10.128.0.0/9'],
    ['240.1.2.3/32', '240.1.2.3'],
    ['1.2.3.4/0', '0.0.0.0/0'],
    ['2001:DB8:0:0::1', '2001:db8::1'],
    ['2001:db8:ffff::/40', '2001:db8:ff00::/40'],
    ['2001:db8::1/128', '2001:db8::1'],
    ['::ffff:10.0.0.1', '::ffff:a00:1'],
    ['fe80::0001%eth0', 'fe80::1%eth0'],
    ['no address', 'no address'],
  ])('of %s is %s', (text, canonical) => {
    expect(canonicalAddress(text)).toBe(canonical);
    expect(canonicalAddress(canonical)).toBe(canonical);
  });

  it.each(families)(
    'of a range of $family has the same addresses, and is the same for each of them',
    ({ family, bits, address }) => {
      fc.assert(
        fc.property(
          address,
          address,
          fc.integer({ min: 0, max: bits - 1 }),
          (base, other, length) => {
            const [first = '', ...rest] = canonicalAddress(`${base}/${length}`).split('/');
            expect(rest).toEqual([String(length)]);
            const range = new BlockList();
            range.addSubnet(first, length, family);
            expect(range.check(base, family)).toBe(true);
            const isSame =
              canonicalAddress(`${other}/${length}`) === canonicalAddress(`${base}/${length}`);
            expect(isSame).toBe(range.check(other, family));
          },
        ),
        { numRuns: 200 },
      );
    },
  );

  it('of a host knows no case', () => {
    expect(['D.Mesh', '*.EXAMPLE.com', '2001:DB8::0'].map(canonicalHost)).toEqual([
      'd.mesh',
      '*.example.com',
      '2001:db8::',
    ]);
  });

  it('makes one of the spellings of a host in all kinds of resources', () => {
    const { services, virtualServices, destinationRules, endpoints } = environmentOf(`
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: one }
spec: { hosts: [A.Mesh], ports: [{ number: 80, name: http, protocol: HTTP }], resolution: DNS, endpoints: [{ address: One.Example.com }] }
---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: two }
spec: { hosts: [a.mesh], ports: [{ number: 81, name: http, protocol: HTTP }], resolution: DNS, endpoints: [{ address: "2001:DB8::0:1" }] }
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: { name: a }
spec: { hosts: [a.MESH], http: [{ mirror: { host: A.MESH }, route: [{ destination: { host: A.mesh } }] }] }
---
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: { name: a }
spec: { host: A.MESH }
`);
    expect([...services.keys()]).toEqual(['a.mesh']);
    expect([...destinationRules.keys()]).toEqual(['a.mesh']);
    const [{ spec } = { spec: undefined }] = virtualServices;
    expect(spec?.hosts).toEqual(['a.mesh']);
    expect(JSON.stringify(spec?.http)).not.toContain('MESH');
    expect(
      [...(endpoints.get('default/a.mesh')?.values() ?? [])].flat().map(({ address }) => address),
    ).toEqual(['one.example.com', '2001:db8::1']);
  });
});
