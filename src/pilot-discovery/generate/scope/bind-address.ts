import { isIPv6 } from 'node:net';
import type { ListenerSchema } from '../../../shared/proto/envoy/config/listener/v3/listener_pb.ts';
import type { ProxyNode } from './proxy-node.ts';
import type { Init } from '../encoding/typed-config.ts';

export interface BindAddresses {
  readonly wildcard: string;
  readonly local: string;
  /** Those of the second family for each, where the proxy has both. */
  readonly others: Readonly<Record<string, string>>;
}

/** The addresses that listeners of a proxy bind to, by the family of its own addresses. */
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
 * The address that a port of a Sidecar without `bind` is bound to: the first of the proxy. An
 * application has that port at loopback, so that the wildcard address could not be bound.
 */
export function ingressAddress(node: Pick<ProxyNode, 'addresses'>): string {
  const [first = ''] = node.addresses;
  return first === '' || isLoopback(first) ? bindAddresses(node).wildcard : first;
}

const isLoopback = (address: string): boolean => address.startsWith('127.') || address === '::1';

/** Whether a proxy may bind a port. */
export const mayBind = ({ bindable }: Pick<ProxyNode, 'bindable'>, port: number): boolean =>
  bindable === 'any' || port >= 1024;

/** A socket address of a listener. */
export const socketAddress = (address: string, port: number) =>
  ({
    address: {
      case: 'socketAddress',
      value: { address, portSpecifier: { case: 'portValue', value: port } },
    },
  }) as const;

/** Each connection goes to the thread of Envoy that has the fewest of this listener. */
export const exactBalance = {
  connectionBalanceConfig: { balanceType: { case: 'exactBalance', value: {} } },
} as const satisfies Init<typeof ListenerSchema>;
