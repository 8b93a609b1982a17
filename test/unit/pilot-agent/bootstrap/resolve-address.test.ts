import { firstValueFrom, of, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { type HostNames, resolveAddress } from '../../../../src/pilot-agent/bootstrap/address.ts';

const unknown: HostNames = {
  lookup: (host) => throwError(() => new Error(`getaddrinfo ENOTFOUND ${host}`)),
};
const foo = (...addresses: readonly string[]): HostNames => ({ lookup: () => of(addresses) });
const resolve = (address: string, names?: HostNames) =>
  firstValueFrom(resolveAddress(address, names), { defaultValue: undefined });

describe('resolveAddress', () => {
  it.each<{ id: string; address: string; names?: HostNames; expected: string | RegExp }>([
    {
      id: 'IPv4 first',
      address: 'localhost:9080',
      names: foo('::1', '127.0.0.1'),
      expected: '127.0.0.1:9080',
    },
    { id: 'the system', address: 'localhost:9080', expected: /^(127\.0\.0\.1|\[::1\]):9080$/ },
    {
      id: 'a name in brackets',
      address: '[localhost]:9080',
      expected: /^(127\.0\.0\.1|\[::1\]):9080$/,
    },
    { id: 'an address of IPv4', address: '127.0.0.1:9080', expected: '127.0.0.1:9080' },
    { id: 'an address of IPv6', address: '[::1]:9080', expected: '[::1]:9080' },
    { id: 'an empty port', address: 'localhost:', names: foo('127.0.0.1'), expected: '127.0.0.1:' },
    {
      id: 'IPv4 of several',
      address: 'www.foo.com:9080',
      names: foo('2001:db8::68', '1.2.3.4', '1.2.3.5'),
      expected: '1.2.3.4:9080',
    },
    {
      id: 'IPv6 alone',
      address: 'www.foo.com:9080',
      names: foo('2001:db8::68'),
      expected: '[2001:db8::68]:9080',
    },
    {
      id: 'the first of several (the Go agent: the last)',
      address: 'www.foo.com:9080',
      names: foo('2001:db8::68', '2001:db8::69'),
      expected: '[2001:db8::68]:9080',
    },
  ])('$id: resolves $address', async ({ address, names, expected }) => {
    const matching: unknown =
      expected instanceof RegExp ? expect.stringMatching(expected) : expected;
    expect(await resolve(address, names)).toEqual({ ok: true, address: matching });
  });

  it.each([
    {
      id: 'too many numbers',
      address: '127.0.0.1.1:9080',
      names: unknown,
      reason: "lookup failed for '127.0.0.1.1': getaddrinfo ENOTFOUND 127.0.0.1.1",
    },
    {
      id: 'two gaps',
      address: '[2001:db8::bad::1]:9080',
      names: unknown,
      reason: "lookup failed for '2001:db8::bad::1': getaddrinfo ENOTFOUND 2001:db8::bad::1",
    },
    { id: 'nothing', address: '', names: foo('1.1.1.1'), reason: 'no address specified' },
    {
      id: 'no brackets',
      address: '2001:db8::20:9080',
      names: foo('1.1.1.1'),
      reason: "'2001:db8::20:9080' has too many colons: an IPv6 address goes in brackets",
    },
    {
      id: 'no port',
      address: 'localhost',
      names: foo('1.1.1.1'),
      reason: "'localhost' is not host:port: the port is missing",
    },
    {
      id: 'no host',
      address: ':9080',
      names: foo('1.1.1.1'),
      reason: "lookup failed for '': there is no host",
    },
    {
      id: 'a host without addresses',
      address: 'foo:9080',
      names: foo(),
      reason: "lookup failed for 'foo': no such host",
    },
  ])('$id: has a word for "$address"', async ({ address, names, reason }) => {
    expect(await resolve(address, names)).toEqual({ ok: false, reason });
  });

  it('knows of no address with two gaps, by the system', async () => {
    expect(await resolve('[2001:db8::bad::1]:9080')).toMatchObject({ ok: false });
  });
});
