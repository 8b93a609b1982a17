import { isIPv6 } from 'node:net';
import type { ProxyNode } from './proxy-node.ts';

/** The addresses that listeners of a proxy bind to, by the family of its own addresses. */
export function bindAddresses({ addresses }: ProxyNode): { readonly wildcard: string; readonly local: string } {
  const onlyIpv6 = addresses.length > 0 && addresses.every((address) => isIPv6(address));
  return onlyIpv6 ? { wildcard: '::', local: '::1' } : { wildcard: '0.0.0.0', local: '127.0.0.1' };
}

/** A socket address of a listener. */
export const socketAddress = (address: string, port: number) =>
  ({ address: { case: 'socketAddress', value: { address, portSpecifier: { case: 'portValue', value: port } } } }) as const;
