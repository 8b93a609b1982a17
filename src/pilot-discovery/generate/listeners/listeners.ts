import type { XdsResource } from '../../push/view.ts';
import type { Environment } from '../../environment/environment.ts';
import { connectionsOf } from '../scope/gateway-connections.ts';
import { gatewayListeners, rulesOfConnections } from './gateway-listeners.ts';
import { inboundListeners } from './inbound-listeners.ts';
import { boundEndpoints } from '../scope/outbound-bindings.ts';
import { outboundListeners, rulesOfListeners } from './outbound-listeners.ts';
import { mergedGatewayOf } from '../scope/merged-gateway.ts';
import { ownPorts, partsOfPorts } from '../scope/own-ports.ts';
import type { ProxyNode } from '../scope/proxy-node.ts';
import { sidecarOf } from '../scope/sidecar-of.ts';
import { visibleServices } from '../scope/visible-services.ts';

/** All listeners of a proxy: for what its application calls, and for what calls it. */
export function listenersOf(environment: Environment, node: ProxyNode): XdsResource[] {
  if (node.role === 'router') return gatewayListeners(environment, node);
  return [
    ...outboundListeners(environment, node, visibleServices(environment, node)),
    ...inboundListeners(environment, node),
  ];
}

/** What they are made of: equal, one by one, as long as they are. */
export function inputsOfListeners(environment: Environment, node: ProxyNode): readonly unknown[] {
  const { mesh, peerAuthentications, accessPolicies, fetchedKeys } = environment;
  const services = visibleServices(environment, node);
  if (node.role === 'router')
    return [
      ...[mergedGatewayOf(environment, node), mesh, accessPolicies, fetchedKeys],
      peerAuthentications,
      connectionsOf(environment, node, services),
      rulesOfConnections(environment, node, services),
    ];
  return [
    ...[
      services,
      boundEndpoints(environment, services),
      mesh,
      peerAuthentications,
      accessPolicies,
      fetchedKeys,
      sidecarOf(environment, node),
    ],
    rulesOfListeners(environment, node, services),
    ...partsOfPorts(ownPorts(environment, node)),
  ];
}
