import { BlockList, isIPv6 } from 'node:net';

const familyOf = (address: string) => (isIPv6(address) ? 'ipv6' : 'ipv4');

/**
 * Returns a function that says whether an address is in one of some ranges, such as 10.0.0.0/8.
 * Throws if a range is invalid. Pure.
 */
export function withinRanges(ranges: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const range of ranges) {
    const [first = '', length = ''] = range.split('/');
    list.addSubnet(first, Number(length), familyOf(first));
  }
  return (address) => list.check(address, familyOf(address));
}
