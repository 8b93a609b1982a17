import { isIPv4, isIPv6 } from 'node:net';
import { isIpAddress } from '../../../shared/text/host-port.ts';

/** Returns a host in a form that can be compared: DNS names ignore case. Pure. */
export function canonicalHost(host: string): string {
  return isIPv6(host) ? canonicalIpv6(host) : host.toLowerCase();
}

/**
 * Returns an IP address or a range in a form that can be compared: `240.1.2.3/16` becomes
 * `240.1.0.0/16`, and a range of one address becomes that address. Another text stays the same.
 * Pure.
 */
export function canonicalAddress(text: string): string {
  const [address = '', length] = text.split('/');
  const bits = isIPv4(address) ? 32 : isIPv6(address) ? 128 : undefined;
  if (bits === undefined) return text;
  const whole = bits === 32 ? address : canonicalIpv6(address);
  if (length === undefined || Number(length) === bits) return whole;
  const bytes = bits === 32 ? address.split('.').map(Number) : bytesOf(whole);
  const within = bytes.map((byte, index) => byte & maskAt(index, Number(length)));
  const first = bits === 32 ? within.join('.') : canonicalIpv6(groupsOf(within).join(':'));
  return `${first}/${Number(length)}`;
}

/** Whether a text is an IP address, or a range such as 10.0.0.0/8. Pure. */
export function isAddressRange(text: string): boolean {
  const [address = '', length, ...more] = text.split('/');
  const most = address.includes(':') ? 128 : 32;
  return (
    isIpAddress(address) &&
    more.length === 0 &&
    (length === undefined || (/^\d{1,3}$/.test(length) && Number(length) <= most))
  );
}

/**
 * Returns an address in lower case, with its longest run of zeros as `::` (RFC 5952). A zone stays
 * the same.
 */
function canonicalIpv6(address: string): string {
  const [plain = '', ...zone] = address.split('%');
  return [new URL(`http://[${plain}]`).hostname.slice(1, -1), ...zone].join('%');
}

/** Returns the bytes of an address in canonical form. */
function bytesOf(address: string): readonly number[] {
  const [before = '', after] = address.split('::');
  const groups = (part: string) =>
    part === '' ? [] : part.split(':').map((group) => parseInt(group, 16));
  const [first, last] = [groups(before), groups(after ?? '')];
  const zeros = Array.from(
    { length: after === undefined ? 0 : 8 - first.length - last.length },
    () => 0,
  );
  return [...first, ...zeros, ...last].flatMap((group) => [group >> 8, group & 255]);
}

const groupsOf = (bytes: readonly number[]): readonly string[] =>
  bytes.flatMap((byte, index) =>
    index % 2 === 0 ? [((byte << 8) | (bytes[index + 1] ?? 0)).toString(16)] : [],
  );

/** Returns the bits of a byte that belong to the first `length` bits. */
const maskAt = (index: number, length: number): number =>
  256 - 2 ** (8 - Math.min(8, Math.max(0, length - index * 8)));
