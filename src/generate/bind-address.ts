import { isIPv6 } from 'node:net';
import type { ProxyNode } from './proxy-node.ts';

export interface BindAddresses {
  readonly wildcard: string;
  readonly local: string;
  /** Those of the second family for each, where the proxy has both. */
  readonly others: Readonly<Record<string, string>>;
}

/** The addresses that listeners of a proxy bind to, by the family of its own addresses. */
export function bindAddresses({ addresses }: Pick<ProxyNode, 'addresses'>): BindAddresses {
  const ofIpv6 = addresses.filter((address) => isIPv6(address)).length;
  if (ofIpv6 > 0 && ofIpv6 === addresses.length) return { wildcard: '::', local: '::1', others: {} };
  return { wildcard: '0.0.0.0', local: '127.0.0.1', others: ofIpv6 > 0 ? { '0.0.0.0': '::', '127.0.0.1': '::1' } : {} };
}

/** A socket address of a listener. */
export const socketAddress = (address: string, port: number) =>
  ({ address: { case: 'socketAddress', value: { address, portSpecifier: { case: 'portValue', value: port } } } }) as const;
