import { describe, expect, it } from 'vitest';
import { socketAddress } from '../../../../src/pilot-agent/bootstrap/clusters.ts';

describe('socketAddress', () => {
  it.each([
    ['127.0.0.1:5000', '127.0.0.1', 5000],
    ['[2001:db8::100]:5000', '2001:db8::100', 5000],
    ['istio-pilot:15005', 'istio-pilot', 15005],
    ['a:1', 'a', 1],
    ['a:65535', 'a', 65535],
  ])('reads %s', (text, address, port) => {
    expect(socketAddress(text.replace(/^(K\d+ )+/, ''))).toEqual({ address, port_value: port });
  });

  it.each([
    ['an empty port (the Go agent takes it, and makes a bootstrap that is not JSON)', '127.0.0.1:'],
    ['no port', '127.0.0.1'],
    ['too many colons', '2001:db8::100:5000'],
    ['nothing', ''],
    ['no host', ':80'],
    ['no host in brackets', '[]:80'],
    ['no port behind brackets', '[::1]'],
    ['half a bracket', '[::1:80'],
    ['a port of 0', 'a:0'],
    ['a port beyond all', 'a:65536'],
    ['a port with a name', 'a:http'],
    ['a port with a sign', 'a:+80'],
  ])('refuses %s', (_, text) => {
    expect(socketAddress(text)).toBeUndefined();
  });
});
