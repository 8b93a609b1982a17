import { describe, expect, it } from 'vitest';
import { parseHostPort, portNumber } from '../../../../src/shared/text/host-port.ts';

describe('parseHostPort', () => {
  it.each([
    [
      'istiod.istio-system:15012',
      { host: 'istiod.istio-system', kind: 'name', isBracketed: false, port: '15012' },
    ],
    ['10.0.0.1:80', { host: '10.0.0.1', kind: 'ipv4', isBracketed: false, port: '80' }],
    ['[::1]:80', { host: '::1', kind: 'ipv6', isBracketed: true, port: '80' }],
    ['[localhost]:80', { host: 'localhost', kind: 'name', isBracketed: true, port: '80' }],
    ['2001:db8::1:80', { host: '2001:db8::1', kind: 'ipv6', isBracketed: false, port: '80' }],
    ['localhost', { host: 'localhost', kind: 'name', isBracketed: false, port: undefined }],
    ['[::1]', { host: '::1', kind: 'ipv6', isBracketed: true, port: undefined }],
    ['a:http', { host: 'a', kind: 'name', isBracketed: false, port: 'http' }],
    [':', { host: '', kind: 'name', isBracketed: false, port: '' }],
  ])('takes %s apart', (text, parts) => {
    expect(parseHostPort(text)).toEqual(parts);
  });

  it.each(['[::1', '[::1]x:80', 'a]:80', '[[::1]]:80', '[::1]80'])('takes %s for none', (text) => {
    expect(parseHostPort(text)).toBeUndefined();
  });
});

it.each([
  ['1', 1],
  ['65535', 65_535],
  ['0', undefined],
  ['65536', undefined],
  ['000080', undefined],
  ['+80', undefined],
  ['', undefined],
  [undefined, undefined],
])('the number of the port %s is %s', (text, port) => {
  expect(portNumber(text)).toBe(port);
});
