import { isIP } from 'node:net';

/** An IP address as the 16 bytes of IPv6, an IPv4 one mapped into it; none for what is no address. Pure. */
export function addressBytes(address: string): Buffer {
  if (isIP(address) === 0) return Buffer.alloc(0);
  // The URL parser writes each form of an address in one way: groups of hexadecimal digits.
  const { hostname } = new URL(`http://[${isIP(address) === 4 ? `::ffff:${address}` : (address.split('%', 1)[0] ?? '')}]`);
  const [head = '', tail = ''] = hostname.slice(1, -1).split('::');
  const groups = (part: string) => (part === '' ? [] : part.split(':'));
  const zeros = Array<string>(8 - groups(head).length - groups(tail).length).fill('0');
  return Buffer.from([...groups(head), ...zeros, ...groups(tail)].map((group) => group.padStart(4, '0')).join(''), 'hex');
}
