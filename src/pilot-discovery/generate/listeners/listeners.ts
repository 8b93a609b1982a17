import type { TypedView, XdsResource } from '../../push/view.ts';
import type { Environment } from '../../environment/environment.ts';
import {
  noResources,
  type SortedView,
  typedView,
  withResources,
} from '../encoding/encode-resource.ts';
import { memoTable } from '../scope/memo.ts';
import { servicesOfAuthorizers } from '../scope/authorizer-of.ts';
import { connectionsOf } from '../scope/gateway-connections.ts';
import { gatewayListeners, rulesOfConnections } from './gateway-listeners.ts';
import { inboundListeners } from './inbound-listeners.ts';
import { boundEndpoints } from '../scope/outbound-bindings.ts';
import { outboundListeners, rulesOfListeners } from './outbound-listeners.ts';
import { mergedGatewayOf } from '../scope/merged-gateway.ts';
import { outboundEntriesOf } from '../scope/outbound-entries-of.ts';
import { partsOfReporting } from './reporting.ts';
import { ownPorts, partsOfPorts } from '../scope/own-ports.ts';
import { outboundScope } from '../scope/outbound-scope.ts';
import type { ProxyNode } from '../scope/proxy-node.ts';
import { anyDynamicDns } from '../scope/resolution.ts';
import { sniDestinations } from '../scope/sni-destinations.ts';
import { sidecarOf } from '../scope/sidecar-of.ts';
import { visibleServices } from '../scope/visible-services.ts';

/** Returns all listeners of a proxy, outbound and inbound. */
export function listenerView(environment: Environment, node: ProxyNode): TypedView {
  if (node.role === 'router') return typedView(gatewayListeners(environment, node));
  const outbound = viewOf(outboundListeners(environment, node, outboundScope(environment, node)));
  const inbound = inboundListeners(environment, node).filter(
    ({ name }) => !outbound.resources.has(name),
  );
  return withResources(outbound, byName(inbound));
}

const outboundViews = memoTable<SortedView>();

/** Returns the view of a list of outbound listeners. Proxies that share a list share its view. */
const viewOf = (listeners: readonly XdsResource[]): SortedView =>
  outboundViews([listeners], '', () => withResources(noResources, byName(listeners)));

/** If several have the same name, the first one is used. */
const byName = (listeners: readonly XdsResource[]) =>
  listeners.toReversed().map((listener) => [listener.name, listener] as const);

/**
 * Returns all listeners of a proxy as a list. An outbound and an inbound one may have the same
 * name.
 */
export const listenersOf = (environment: Environment, node: ProxyNode): readonly XdsResource[] =>
  node.role === 'router'
    ? gatewayListeners(environment, node)
    : [
        ...outboundListeners(environment, node, outboundScope(environment, node)),
        ...inboundListeners(environment, node),
      ];

/** Returns the inputs of listeners. If they are equal one by one, the listeners are equal. */
export function inputsOfListeners(environment: Environment, node: ProxyNode): readonly unknown[] {
  const { mesh, peerAuthentications, accessPolicies, fetchedKeys } = environment;
  if (node.role === 'router') {
    const services = visibleServices(environment, node);
    return [
      ...[mergedGatewayOf(environment, node), mesh, accessPolicies, fetchedKeys],
      anyDynamicDns(services),
      peerAuthentications,
      servicesOfAuthorizers(environment),
      connectionsOf(environment, node, services),
      rulesOfConnections(environment, node, services),
      sniDestinations(environment, node, services),
      ...partsOfReporting(environment, node),
    ];
  }
  const scope = outboundScope(environment, node);
  return [
    ...[
      ...scope.blocks.flatMap(({ services }) => [services, boundEndpoints(environment, services)]),
      mesh,
      peerAuthentications,
      accessPolicies,
      fetchedKeys,
      sidecarOf(environment, node),
    ],
    servicesOfAuthorizers(environment),
    rulesOfListeners(environment, node, scope),
    ...scope.blocks.map((block) => outboundEntriesOf(environment, node, block, scope.services)),
    ...partsOfReporting(environment, node),
    ...partsOfPorts(ownPorts(environment, node)),
  ];
}
