// Why: docs/decisions/099-networks-are-reached-through-their-gateways.md
import { withinRanges } from '../../../shared/text/within-ranges.ts';
import type { Endpoint, Environment } from '../../environment/environment.ts';
import { localityLabels } from '../../environment/locality-labels.ts';
import {
  byAddress,
  type MeshNetworks,
  type NetworkGateway,
} from '../../istio/mesh/mesh-networks.ts';
import type { ProxyNode } from '../scope/proxy-node.ts';
import { memoTable } from '../scope/memo.ts';
import type { MutualTlsMark } from '../tls/mutual-tls-mark.ts';

/**
 * An endpoint at which a proxy reaches a service: an endpoint of the service, or a gateway of its
 * network.
 */
export type ReachedEndpoint = Endpoint & { readonly declaredBy?: NetworkGateway['declaredBy'] };

/** Returns where a proxy reaches the endpoints of one locality. */
export type ReachEndpoints = (endpoints: readonly Endpoint[]) => readonly ReachedEndpoint[];

type Reader = Pick<ProxyNode, 'network' | 'networkView'>;

/** Returns, as a text, everything about its network that affects the endpoints of a proxy. */
export const scopeOfNetwork = (
  { networks }: Pick<Environment, 'networks'>,
  { network, networkView }: Reader,
): string =>
  networks.gateways.length === 0 && networkView.length === 0
    ? ''
    : JSON.stringify([network, networkView]);

/**
 * Returns the endpoints in the networks that a proxy asks for, and those of an unknown network;
 * all, if it asks for none. If no network has gateways, those without an address are left out.
 */
export function visibleTo(
  { networks }: Pick<Environment, 'networks'>,
  { networkView }: Reader,
  endpoints: readonly Endpoint[],
): readonly Endpoint[] {
  const reachable =
    networks.gateways.length === 0 && endpoints.some(isWithoutAddress)
      ? endpoints.filter((endpoint) => !isWithoutAddress(endpoint))
      : endpoints;
  if (networkView.length === 0) return reachable;
  const { networkOf } = indexOf(networks);
  return reachable.filter((endpoint) => {
    const network = networkOf(endpoint);
    return network === '' || networkView.includes(network);
  });
}

/** As in istiod, proxies in all networks reach the endpoints of DNS clusters directly. */
export const directly: ReachEndpoints = (endpoints) =>
  endpoints.filter((endpoint) => !isWithoutAddress(endpoint));

const isWithoutAddress = ({ address }: Endpoint): boolean => address === '';

/**
 * Returns where a proxy reaches endpoints. Endpoints of the proxy's own network, of an unknown
 * network, and of a network without gateways are reached directly, if they have an address. If the
 * network of the proxy is unknown, this applies to all endpoints. Others are reached through all
 * gateways of their network, by mutual TLS: each gateway has an equal share of their weight, and is
 * among the endpoints of their locality. A gateway finds an endpoint by the server name in the TLS,
 * so endpoints without mutual TLS are not reached. The endpoints are those that {@link visibleTo}
 * returns.
 */
export function reachOf(
  { networks }: Pick<Environment, 'networks'>,
  { network: from }: Reader,
  isMutual: MutualTlsMark,
): ReachEndpoints {
  if (networks.gateways.length === 0) return (endpoints) => endpoints;
  const { byNetwork, scale, networkOf } = indexOf(networks);
  return (endpoints) => {
    const direct: ReachedEndpoint[] = [];
    const weights = new Map<NetworkGateway, number>();
    for (const endpoint of endpoints) {
      const network = networkOf(endpoint);
      const weight = Math.min(Math.max(1, endpoint.weight) * scale, mostWeight);
      const isNear = network === '' || from === '' || network === from;
      const gateways = isNear ? undefined : byNetwork.get(network);
      if (gateways === undefined) {
        if (!isWithoutAddress(endpoint))
          direct.push(scale === 1 ? endpoint : { ...endpoint, weight });
      } else if (isMutual(endpoint)) {
        const share = Math.floor(weight / gateways.length);
        for (const gateway of gateways) weights.set(gateway, (weights.get(gateway) ?? 0) + share);
      }
    }
    const gateways = [...weights].sort(([a], [b]) => byAddress(a, b));
    return [...direct, ...gateways.map(([gateway, weight]) => gatewayEndpoint(gateway, weight))];
  };
}

const mostWeight = 2 ** 32 - 1;

const gatewayEndpoint = (
  { network, address, port, declaredBy }: NetworkGateway,
  weight: number,
): ReachedEndpoint => ({
  declaredBy,
  address,
  port,
  labels: localityLabels('', network),
  network,
  locality: '',
  weight,
  identity: '',
  tlsMode: 'istio',
  namespace: '',
  workloadName: '',
  readiness: 'ready',
  key: `MeshNetworks//${network}`,
});

interface NetworkIndex {
  readonly byNetwork: ReadonlyMap<string, readonly NetworkGateway[]>;
  /** Makes the weight of an endpoint divisible by the number of gateways of each network. */
  readonly scale: number;
  readonly networkOf: (endpoint: Endpoint) => string;
}

const indexes = memoTable<NetworkIndex>();

const indexOf = (networks: MeshNetworks): NetworkIndex =>
  indexes([networks], '', () => {
    const byNetwork = new Map<string, readonly NetworkGateway[]>();
    for (const gateway of networks.gateways)
      byNetwork.set(gateway.network, [...(byNetwork.get(gateway.network) ?? []), gateway]);
    const counts = [...byNetwork.values()].map(({ length }) => length);
    return {
      byNetwork,
      scale: Math.min(counts.reduce(leastCommonMultiple, 1), mostWeight),
      networkOf: networkFinder(networks),
    };
  });

const leastCommonMultiple = (a: number, b: number): number => (a / greatestCommonDivisor(a, b)) * b;
const greatestCommonDivisor = (a: number, b: number): number =>
  b === 0 ? a : greatestCommonDivisor(b, a % b);

/**
 * As in istiod, ranges are for endpoints of Kubernetes. If a range and the cluster name different
 * networks, the range wins.
 */
function networkFinder({ ranges }: MeshNetworks): NetworkIndex['networkOf'] {
  const checks = ranges.map(({ network, selects }) => ({
    network,
    check: selects === 'cluster' ? selects : withinRanges([selects.range]),
  }));
  return ({ network, address, key }) => {
    if (network !== '' || checks.length === 0 || !/^(?:Pod|EndpointSlice|Endpoints)\//.test(key))
      return network;
    return checks.find(({ check }) => check === 'cluster' || check(address))?.network ?? '';
  };
}
