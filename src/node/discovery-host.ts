import { splitAddress } from './split-address.ts';

/** The host of a discovery address, without the dot that may end a full name. The Go agent took an IPv6 address apart at its first colon. Pure. */
export function discoveryHost(discoveryAddress: string): string {
  const split = splitAddress(discoveryAddress);
  return (split.ok ? split.host : discoveryAddress).replace(/\.$/, '');
}
