import type { XdsResource } from '../push/view.ts';
import type { Environment } from '../snapshot/environment.ts';
import { inboundListeners } from './inbound-listeners.ts';
import { outboundListeners } from './outbound-listeners.ts';
import type { ProxyNode } from './proxy-node.ts';
import { visibleServices } from './visible-services.ts';

/** All listeners of a proxy: for what its application calls, and for what calls it. */
export function listenersOf(environment: Environment, node: ProxyNode): XdsResource[] {
  if (node.role !== 'sidecar') return [];
  return [...outboundListeners(environment, node, visibleServices(environment, node)), ...inboundListeners(environment, node)];
}
