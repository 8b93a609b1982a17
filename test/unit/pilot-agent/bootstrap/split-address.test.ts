import { describe, expect, it } from 'vitest';
import { splitAddress } from '../../../../src/pilot-agent/bootstrap/address.ts';

describe('splitAddress', () => {
  it.each<{ address: string; host: string; port: string }>([
    { address: 'istiod.istio-system.svc:15012', host: 'istiod.istio-system.svc', port: '15012' },
    { address: '127.0.0.1:9080', host: '127.0.0.1', port: '9080' },
    { address: '[::1]:9080', host: '::1', port: '9080' },
    { address: '[localhost]:9080', host: 'localhost', port: '9080' },
    { address: 'localhost:', host: 'localhost', port: '' },
    { address: ':9080', host: '', port: '9080' },
    { address: '[]:9080', host: '', port: '9080' },
  ])('splits $address', ({ address, host, port }) => {
    expect(splitAddress(address)).toEqual({ ok: true, host, port });
  });

  it.each<{ address: string; reason: string }>([
    { address: '', reason: 'no address specified' },
    { address: 'localhost', reason: "'localhost' is not host:port: the port is missing" },
    { address: '[::1]', reason: "'[::1]' is not host:port: the port is missing" },
    { address: '[::1:9080', reason: "'[::1:9080' is not host:port: the port is missing" },
    { address: '[::1]x:9080', reason: "'[::1]x:9080' is not host:port: the port is missing" },
    { address: '::1', reason: "'::1' has too many colons: an IPv6 address goes in brackets" },
    {
      address: '2001:db8::20:9080',
      reason: "'2001:db8::20:9080' has too many colons: an IPv6 address goes in brackets",
    },
  ])('refuses "$address"', ({ address, reason }) => {
    expect(splitAddress(address)).toEqual({ ok: false, reason });
  });
});
