import { isIPv6 } from 'node:net';
import type { ListenerSchema } from '../../../shared/proto/envoy/config/listener/v3/listener_pb.ts';
import type { ProxyNode } from './proxy-node.ts';
import type { Init } from '../encoding/typed-config.ts';

export interface BindAddresses {
  readonly wildcard: string;
  readonly local: string;
  /** For each of these addresses, the address of IPv6; empty unless the proxy has both families. */
  readonly others: Readonly<Record<string, string>>;
}

/** Returns the addresses to which listeners of a proxy bind, by the family of its own addresses. */
export function bindAddresses({ addresses }: Pick<ProxyNode, 'addresses'>): BindAddresses {
  const ofIpv6 = addresses.filter((address) => isIPv6(address)).length;
  if (ofIpv6 > 0 && ofIpv6 === addresses.length)
    return { wildcard: '::', local: '::1', others: {} };
  return {
    wildcard: '0.0.0.0',
    local: '127.0.0.1',
    others: ofIpv6 > 0 ? { '0.0.0.0': '::', '127.0.0.1': '::1' } : {},
  };
}

/**
 * Returns the address of an ingress listener of a Sidecar without `bind`: the first address of the
 * proxy. The wildcard address could not be bound, because the application listens to the same port
 * at loopback. If the proxy has no address, or its first one is loopback, it gets the wildcard.
 */
export function ingressAddress(node: Pick<ProxyNode, 'addresses'>): string {
  const [first = ''] = node.addresses;
  return first === '' || isLoopback(first) ? bindAddresses(node).wildcard : first;
}

const isLoopback = (address: string): boolean => address.startsWith('127.') || address === '::1';

/** Returns whether a proxy may bind a port. */
export const mayBind = ({ bindable }: Pick<ProxyNode, 'bindable'>, port: number): boolean =>
  bindable === 'any' || port >= 1024;

/** Returns a socket address of a listener. */
export const socketAddress = (address: string, port: number) =>
  ({
    address: {
      case: 'socketAddress',
      value: { address, portSpecifier: { case: 'portValue', value: port } },
    },
  }) as const;

const unix = 'unix://';

/** Whether an address is that of a Unix socket, `unix://PATH`. */
export const isUnixAddress = (address: string): boolean => address.startsWith(unix);

/** Returns the address of the Unix socket `unix://PATH`. */
export const pipeAddress = (address: string) =>
  ({ address: { case: 'pipe', value: { path: address.slice(unix.length) } } }) as const;

/** Returns the address of a listener: an IP address with a port, or the socket of `unix://PATH`. */
export const listenerAddress = (address: string, port: number) =>
  isUnixAddress(address) ? pipeAddress(address) : socketAddress(address, port);

/**
 * Assigns each connection to the thread of Envoy that has the fewest connections of this listener.
 */
export const exactBalance = {
  connectionBalanceConfig: { balanceType: { case: 'exactBalance', value: {} } },
} as const satisfies Init<typeof ListenerSchema>;
