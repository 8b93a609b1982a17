import { isIPv6 } from 'node:net';
import { keyOf, type ResourceKey } from '../../istio/documents/model.ts';
import type { Egress, OutboundPolicy } from '../../istio/workloads/sidecar.ts';
import { TrafficDirection } from '../../../shared/proto/envoy/config/core/v3/base_pb.ts';
import type {
  FilterChainMatchSchema,
  FilterChainSchema,
} from '../../../shared/proto/envoy/config/listener/v3/listener_components_pb.ts';
import { ListenerSchema } from '../../../shared/proto/envoy/config/listener/v3/listener_pb.ts';
import type { XdsResource } from '../../push/view.ts';
import type { Environment } from '../../environment/environment.ts';
import {
  bindAddresses,
  exactBalance,
  listenerAddress,
  socketAddress,
} from '../scope/bind-address.ts';
import { destinationRuleOf, type MatchedRule } from '../scope/destination-rule-of.ts';
import { configMetadata } from '../encoding/config-metadata.ts';
import { encodeResource } from '../encoding/encode-resource.ts';
import { outboundManager } from './http-connection-manager.ts';
import { httpInspector, plainHttpProtocols, tlsInspector } from './listener-filters.ts';
import { listenerKindOf } from '../scope/outbound-bindings.ts';
import type { OutboundChain, OutboundEntry } from '../scope/outbound-entries.ts';
import { outboundEntriesOf, scopeEntries } from '../scope/outbound-entries-of.ts';
import { memoTable } from '../scope/memo.ts';
import { connectionRules } from '../scope/mesh-connections.ts';
import type { OutboundScope } from '../scope/outbound-scope.ts';
import { clustersOfProviders } from '../scope/provider-cluster.ts';
import { dnsFamily } from '../encoding/dns-settings.ts';
import { protoDuration } from '../encoding/proto-duration.ts';
import type { ProxyNode } from '../scope/proxy-node.ts';
import { anyDynamicDns } from '../scope/resolution.ts';
import { scopeOfRulesFor } from '../scope/scope.ts';
import { telemetriesOf } from '../scope/telemetries-of.ts';
import { type Reporting, reportingOf } from './reporting.ts';
import { tracedText } from './tracing.ts';
import { outboundPolicyOf, sidecarOf, unknownCluster } from '../scope/sidecar-of.ts';
import { type ChainScope, connectionFilters, ruleOfConnections } from './connection-filters.ts';
import { blackHole, tcpProxy } from './tcp-chain.ts';
import type { Init } from '../encoding/typed-config.ts';
import { ownMember } from '../../../shared/text/own-member.ts';

type FilterChain = Init<typeof FilterChainSchema>;
type Match = Init<typeof FilterChainMatchSchema>;

const sharedListeners = memoTable<readonly XdsResource[]>();
const noObject = {};

/**
 * Returns the listeners for outbound traffic: one for each address and port of the services visible
 * to a proxy. Proxies with equal inputs share the list.
 */
export function outboundListeners(
  environment: Environment,
  node: ProxyNode,
  scope: OutboundScope,
): readonly XdsResource[] {
  const { mesh } = environment;
  const { services, blocks } = scope;
  const reporting = reportingOf(environment, node, 'client');
  return sharedListeners(
    [
      ...[mesh, services, sidecarOf(environment, node) ?? noObject],
      ...blocks.map((block) => outboundEntriesOf(environment, node, block, services)),
      rulesOfListeners(environment, node, scope),
      ...telemetriesOf(environment, node),
    ],
    JSON.stringify([
      bindAddresses(node),
      ...[node.interception, node.exactBalance.outbound, node.http10],
      clustersOfProviders(environment, node),
      anyDynamicDns(services) ? dnsFamily(node.addresses) : '',
      reporting.tracing.spans === undefined ? '' : tracedText(node),
    ]),
    () => madeListeners(environment, node, scope, reporting),
  );
}

function madeListeners(
  environment: Environment,
  node: ProxyNode,
  scope: OutboundScope,
  reporting: Reporting,
): readonly XdsResource[] {
  const { services } = scope;
  const listeners = scopeEntries(environment, node, scope).map((entry) =>
    portListener(environment, node, { services, reporting }, entry),
  );
  return node.interception === 'none'
    ? listeners
    : [...listeners, captureListener(environment, node, reporting)];
}

const madeRules = memoTable<readonly (MatchedRule | undefined)[]>();

/** Returns the DestinationRules that affect these listeners: only their TCP settings do. */
export function rulesOfListeners(
  environment: Environment,
  node: ProxyNode,
  { services, blocks }: OutboundScope,
): readonly (MatchedRule | undefined)[] {
  const { destinationRules, mesh } = environment;
  const lists = blocks.map(({ rules }) => connectionRules(rules));
  // The protocol of a block is the protocol of all of its services.
  const hasOwnProtocol = blocks.some(({ egress }) => egress?.port !== undefined);
  const text = `${String(hasOwnProtocol)} ${scopeOfRulesFor(environment, node)}`;
  return madeRules([services, destinationRules, mesh, ...lists], text, () => {
    const routes = lists.flat().flatMap(({ spec }) => [...spec.tls, ...spec.tcp]);
    const named = routes.flatMap(({ route }) =>
      route.slice(0, 1).flatMap(({ destination }) => services.get(destination.host) ?? []),
    );
    return [
      ...[...services.values()].filter(
        ({ ports }) =>
          hasOwnProtocol || ports.some(({ protocol }) => listenerKindOf(protocol) !== 'http'),
      ),
      ...named,
    ].map((service) => destinationRuleOf(environment, node, service));
  });
}

function portListener(
  environment: Environment,
  node: ProxyNode,
  { services, reporting }: ChainScope,
  entry: OutboundEntry,
): XdsResource {
  const { mesh } = environment;
  const { address, port, chains, place } = entry;
  const other =
    place.listensAt.type === 'bind' ? undefined : ownMember(bindAddresses(node).others, address);
  const name = `${address}_${port}`;
  const keys: ResourceKey[] = [...reporting.resourceKeys];
  const allChains = chains.map((chain) => {
    if (chain.type === 'tcp') {
      keys.push(...(ruleOfConnections(environment, node, services, chain)?.keys ?? []));
      if (chain.rule !== undefined) keys.push(keyOf(chain.rule));
    }
    keys.push(chain.binding.service.key);
    return filterChain(environment, node, { services, reporting }, name, chain);
  });
  const catchAll =
    allChains.length === 1
      ? undefined
      : allChains.find(({ filterChainMatch }) => filterChainMatch === undefined);
  const filterChains = allChains.filter((chain) => chain !== catchAll);
  const alone = allChains.length === 1 && allChains[0]?.filterChainMatch === undefined;
  const sidecar = sidecarOf(environment, node);
  if (catchAll === undefined && !alone && sidecar?.spec.outboundTrafficPolicy !== undefined) {
    keys.push(keyOf(sidecar));
  } else if (sidecar?.spec.egress.some(movesListeners)) keys.push(keyOf(sidecar));
  const defaultFilterChain = alone
    ? undefined
    : (catchAll ?? passthroughChain(reporting, outboundPolicyOf(environment, node)));
  const listener: Init<typeof ListenerSchema> = {
    name,
    address: listenerAddress(address, port),
    ...(other !== undefined && { additionalAddresses: [{ address: socketAddress(other, port) }] }),
    filterChains,
    ...(defaultFilterChain !== undefined && { defaultFilterChain }),
    listenerFilters: [
      ...(allChains.some(({ filterChainMatch }) => (filterChainMatch?.serverNames?.length ?? 0) > 0)
        ? [tlsInspector]
        : []),
      ...(allChains.some(
        ({ filterChainMatch }) => (filterChainMatch?.applicationProtocols?.length ?? 0) > 0,
      )
        ? [httpInspector]
        : []),
    ],
    listenerFiltersTimeout: protoDuration(mesh.protocolDetectionTimeoutMs),
    continueOnListenerFiltersTimeout: true,
    trafficDirection: TrafficDirection.OUTBOUND,
    ...(node.exactBalance.outbound && exactBalance),
    ...(place.mode === 'captured' && { bindToPort: false }),
  };
  return encodeResource(ListenerSchema, name, listener, keys);
}

/** Returns whether a block sets the port, the address or the capture of its listeners. */
const movesListeners = ({ port, bind, captureMode }: Egress): boolean =>
  port !== undefined || bind !== '' || captureMode === 'none';

function filterChain(
  environment: Environment,
  node: ProxyNode,
  scope: ChainScope,
  address: string,
  chain: OutboundChain,
): FilterChain {
  const { protocol } = chain.binding.port;
  const filterChainMatch = matchOf(chain);
  return {
    ...(filterChainMatch !== undefined && { filterChainMatch }),
    filters:
      chain.type === 'http'
        ? [
            outboundManager(scope.reporting, node, scope.services, address, {
              routeName: chain.routeName,
              protocol,
            }),
          ]
        : connectionFilters(environment, node, scope, { ...chain, protocol }),
    transportSocketConnectTimeout: { seconds: 15n },
    ...(chain.type === 'tcp' &&
      chain.rule !== undefined && { metadata: configMetadata('virtual-service', chain.rule) }),
  };
}

function matchOf(chain: OutboundChain): Match | undefined {
  if (chain.type === 'http') {
    return chain.anyProtocol
      ? undefined
      : { transportProtocol: 'raw_buffer', applicationProtocols: [...plainHttpProtocols] };
  }
  const { ranges, names } = chain;
  if (ranges.length === 0 && names.length === 0) return undefined;
  return {
    ...(ranges.length > 0 && { prefixRanges: ranges.map(prefixRange) }),
    ...(names.length > 0 && { serverNames: [...names] }),
  };
}

function prefixRange(range: string) {
  const [addressPrefix = '', length = ''] = range.split('/');
  const prefixLen = length === '' ? (isIPv6(addressPrefix) ? 128 : 32) : Number(length);
  return { addressPrefix, prefixLen };
}

/**
 * Returns the default chain of a shared address. Traffic that no other chain takes goes to its
 * original destination, to a proxy for such traffic, or is dropped.
 */
function passthroughChain(reporting: Reporting, policy: OutboundPolicy): FilterChain {
  return {
    filterChainMatch: {},
    filters: [anywhere(reporting, policy)],
    name: 'PassthroughFilterChain',
  };
}

const anywhere = (reporting: Reporting, policy: OutboundPolicy) =>
  tcpProxy(reporting, unknownCluster(policy) ?? 'BlackHoleCluster');

/**
 * Returns the listener that receives all redirected connections. It passes each to another listener
 * by its original destination.
 */
function captureListener(
  environment: Environment,
  node: ProxyNode,
  reporting: Reporting,
): XdsResource {
  const name = 'virtualOutbound';
  const sidecar = sidecarOf(environment, node);
  const listener: Init<typeof ListenerSchema> = {
    name,
    address: socketAddress(bindAddresses(node).wildcard, 15_001),
    filterChains: [
      {
        filterChainMatch: { destinationPort: 15_001 },
        filters: [blackHole],
        name: 'virtualOutbound-blackhole',
      },
      {
        filters: [anywhere(reporting, outboundPolicyOf(environment, node))],
        name: 'virtualOutbound-catchall-tcp',
      },
    ],
    useOriginalDst: true,
    trafficDirection: TrafficDirection.OUTBOUND,
    accessLog: reporting.listenerLog,
    maxConnectionsToAcceptPerSocketEvent: 1,
    ...(node.interception === 'tproxy' && { transparent: true }),
  };
  return encodeResource(ListenerSchema, name, listener, [
    ...(sidecar?.spec.outboundTrafficPolicy === undefined ? [] : [keyOf(sidecar)]),
    ...reporting.resourceKeys,
  ]);
}
