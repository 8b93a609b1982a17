import { isIPv6 } from 'node:net';
import type { PortPolicy } from '../../istio/destination-rule.ts';
import type { MeshConfig } from '../../istio/mesh-config.ts';
import { keyOf, type ResourceKey } from '../../istio/model.ts';
import { TrafficDirection } from '../../../shared/proto/envoy/config/core/v3/base_pb.ts';
import type {
  FilterChainMatchSchema,
  FilterChainSchema,
} from '../../../shared/proto/envoy/config/listener/v3/listener_components_pb.ts';
import { ListenerSchema } from '../../../shared/proto/envoy/config/listener/v3/listener_pb.ts';
import type { XdsResource } from '../../push/view.ts';
import type { Environment } from '../../environment/environment.ts';
import { listenerAccessLogs } from './access-log.ts';
import { bindAddresses, exactBalance, socketAddress } from '../scope/bind-address.ts';
import { destinationRuleOf, type MatchedRule } from '../scope/destination-rule-of.ts';
import { encodeResource } from '../encoding/encode-resource.ts';
import { outboundManager } from './http-connection-manager.ts';
import { httpInspector, plainHttpProtocols, tlsInspector } from './listener-filters.ts';
import { listenerKindOf } from '../scope/outbound-bindings.ts';
import type { OutboundChain, OutboundEntry } from '../scope/outbound-entries.ts';
import { outboundEntriesOf } from '../scope/outbound-entries-of.ts';
import { memoTable } from '../scope/memo.ts';
import type { OutboundScope } from '../scope/outbound-scope.ts';
import { protoDuration } from '../encoding/proto-duration.ts';
import type { ProxyNode } from '../scope/proxy-node.ts';
import { scopeOfRulesFor } from '../scope/scope.ts';
import { outboundPolicyOf, sidecarOf } from '../scope/sidecar-of.ts';
import { blackHole, tcpFilters, tcpProxy } from './tcp-chain.ts';
import type { Init } from '../encoding/typed-config.ts';
import { ownMember } from '../../../shared/text/own-member.ts';

type FilterChain = Init<typeof FilterChainSchema>;
type Match = Init<typeof FilterChainMatchSchema>;

/**
 * Returns the listeners for outbound traffic: one for each address and port of the services visible
 * to a proxy.
 */
export function outboundListeners(
  environment: Environment,
  node: ProxyNode,
  { blocks }: OutboundScope,
): XdsResource[] {
  const own = blocks
    .flatMap(({ services }) => outboundEntriesOf(environment, node, services))
    .map((entry) => portListener(environment, node, entry));
  return node.interception === 'none' ? own : [...own, captureListener(environment, node)];
}

const madeRules = memoTable<readonly (MatchedRule | undefined)[]>();

/** Returns the DestinationRules that affect these listeners: only their TCP settings do. */
export function rulesOfListeners(
  environment: Environment,
  node: ProxyNode,
  { services }: OutboundScope,
): readonly (MatchedRule | undefined)[] {
  const { destinationRules, mesh } = environment;
  return madeRules([services, destinationRules, mesh], scopeOfRulesFor(environment, node), () =>
    [...services.values()]
      .filter(({ ports }) => ports.some(({ protocol }) => listenerKindOf(protocol) !== 'http'))
      .map((service) => destinationRuleOf(environment, node, service)),
  );
}

function portListener(
  environment: Environment,
  node: ProxyNode,
  entry: OutboundEntry,
): XdsResource {
  const { mesh } = environment;
  const { address, port, chains } = entry;
  const other = ownMember(bindAddresses(node).others, address);
  const name = `${address}_${port}`;
  const keys: ResourceKey[] = [];
  const made = chains.map((chain) => {
    const policy = chain.type === 'tcp' ? policyOf(environment, node, chain, keys) : undefined;
    keys.push(chain.of.service.key);
    return filterChain(mesh, node, name, chain, policy);
  });
  const all =
    made.length === 1
      ? undefined
      : made.find(({ filterChainMatch }) => filterChainMatch === undefined);
  const filterChains = made.filter((chain) => chain !== all);
  const alone = made.length === 1 && made[0]?.filterChainMatch === undefined;
  const sidecar = sidecarOf(environment, node);
  if (all === undefined && !alone && sidecar?.spec.outboundTrafficPolicy !== undefined) {
    keys.push(keyOf(sidecar));
  }
  const defaultFilterChain = alone
    ? undefined
    : (all ?? passthroughChain(mesh, outboundPolicyOf(environment, node)));
  const listener: Init<typeof ListenerSchema> = {
    name,
    address: socketAddress(address, port),
    ...(other !== undefined && { additionalAddresses: [{ address: socketAddress(other, port) }] }),
    filterChains,
    ...(defaultFilterChain !== undefined && { defaultFilterChain }),
    listenerFilters: [
      ...(made.some(({ filterChainMatch }) => (filterChainMatch?.serverNames?.length ?? 0) > 0)
        ? [tlsInspector]
        : []),
      ...(made.some(
        ({ filterChainMatch }) => (filterChainMatch?.applicationProtocols?.length ?? 0) > 0,
      )
        ? [httpInspector]
        : []),
    ],
    listenerFiltersTimeout: protoDuration(mesh.protocolDetectionTimeoutMs),
    continueOnListenerFiltersTimeout: true,
    trafficDirection: TrafficDirection.OUTBOUND,
    ...(node.exactBalance.outbound && exactBalance),
    ...(node.interception !== 'none' && { bindToPort: false }),
  };
  return encodeResource(ListenerSchema, name, listener, keys);
}

function filterChain(
  mesh: MeshConfig,
  node: ProxyNode,
  address: string,
  chain: OutboundChain,
  policy: PortPolicy | undefined,
): FilterChain {
  const { service, port } = chain.of;
  const filterChainMatch = matchOf(chain);
  return {
    ...(filterChainMatch !== undefined && { filterChainMatch }),
    filters:
      chain.type === 'http'
        ? [
            outboundManager(mesh, node, address, {
              routeName: chain.routeName,
              protocol: port.protocol,
            }),
          ]
        : tcpFilters(mesh, `outbound|${port.number}||${service.host}`, port.protocol, policy),
    transportSocketConnectTimeout: { seconds: 15n },
  };
}

function matchOf(chain: OutboundChain): Match | undefined {
  if (chain.type === 'http') {
    return chain.anyProtocol
      ? undefined
      : { transportProtocol: 'raw_buffer', applicationProtocols: [...plainHttpProtocols] };
  }
  const { range, serverName } = chain.of;
  if (range === '' && serverName === '') return undefined;
  const [addressPrefix = '', length = ''] = range.split('/');
  return {
    ...(range !== '' && {
      prefixRanges: [
        {
          addressPrefix,
          prefixLen: length === '' ? (isIPv6(addressPrefix) ? 128 : 32) : Number(length),
        },
      ],
    }),
    ...(serverName !== '' && { serverNames: [serverName] }),
  };
}

/** Returns the TCP settings of a DestinationRule. As in Istio, settings of a port do not count. */
function policyOf(
  environment: Environment,
  node: ProxyNode,
  { of }: OutboundChain,
  keys: ResourceKey[],
): PortPolicy | undefined {
  const rule = destinationRuleOf(environment, node, of.service);
  if (rule === undefined) return undefined;
  keys.push(...rule.keys);
  return rule.spec.trafficPolicy;
}

/**
 * Returns the default chain of a shared address. Traffic that no other chain takes goes to its
 * original destination, or is dropped.
 */
function passthroughChain(mesh: MeshConfig, policy: 'allow-any' | 'registry-only'): FilterChain {
  return {
    filterChainMatch: {},
    filters: [anywhere(mesh, policy)],
    name: 'PassthroughFilterChain',
  };
}

const anywhere = (mesh: MeshConfig, policy: 'allow-any' | 'registry-only') =>
  tcpProxy(mesh, policy === 'allow-any' ? 'PassthroughCluster' : 'BlackHoleCluster');

/**
 * Returns the listener that receives all redirected connections. It passes each to another listener
 * by its original destination.
 */
function captureListener(environment: Environment, node: ProxyNode): XdsResource {
  const { mesh } = environment;
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
        filters: [anywhere(mesh, outboundPolicyOf(environment, node))],
        name: 'virtualOutbound-catchall-tcp',
      },
    ],
    useOriginalDst: true,
    trafficDirection: TrafficDirection.OUTBOUND,
    accessLog: listenerAccessLogs(mesh),
    maxConnectionsToAcceptPerSocketEvent: 1,
    ...(node.interception === 'tproxy' && { transparent: true }),
  };
  return encodeResource(
    ListenerSchema,
    name,
    listener,
    sidecar?.spec.outboundTrafficPolicy === undefined ? [] : [keyOf(sidecar)],
  );
}
