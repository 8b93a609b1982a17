// Why: docs/decisions/082-a-gateway-has-what-its-routes-name.md
import type { Environment } from '../../environment/environment.ts';
import { noResources, type SortedView, withResources } from '../encoding/encode-resource.ts';
import { gatewayRoutes } from '../routes/gateway-routes.ts';
import { accessPoliciesOf } from '../scope/access-policies-of.ts';
import { authorizerClusters } from '../scope/authorizer-of.ts';
import { connectionsOf } from '../scope/gateway-connections.ts';
import { clustersOfProviders } from '../scope/provider-cluster.ts';
import { memoTable } from '../scope/memo.ts';
import type { ProxyNode } from '../scope/proxy-node.ts';
import { sniDestinations } from '../scope/sni-destinations.ts';
import { type Services, visibleServices } from '../scope/visible-services.ts';
import { hostOfCluster } from '../scope/cluster-name.ts';

/**
 * The services that the routes of a gateway lead to, and the names of the clusters that it uses.
 */
interface Reached {
  readonly services: Services;
  readonly names: ReadonlySet<string>;
}

/**
 * Returns what the routes of a gateway lead to, the authorizer that its policies ask, and the
 * providers of the mesh; undefined for a proxy that receives all clusters.
 */
export function reachedBy(environment: Environment, node: ProxyNode): Reached | undefined {
  if (node.role !== 'router' || environment.gatewayClusters === 'all') return undefined;
  const all = visibleServices(environment, node);
  const { clusters } = gatewayRoutes(environment, node, all);
  const connections = [...connectionsOf(environment, node, all).values()].flat();
  const ofTcp = connections.flatMap(({ to }) => to.map(({ cluster }) => cluster));
  const bySni = [...sniDestinations(environment, node, all).values()].flat();
  const ofSni = bySni.map(({ cluster }) => cluster);
  const ofAuthorizers = authorizerClusters(environment, accessPoliciesOf(environment, node));
  const ofMesh = clustersOfProviders(environment, node);
  const names = [...new Set([...clusters, ...ofTcp, ...ofSni, ...ofAuthorizers, ...ofMesh])].sort();
  return reached([all], JSON.stringify(names), () => {
    const hosts = new Set(names.map(hostOfCluster));
    const services = new Map([...all].filter(([host]) => hosts.has(host)));
    return { services, names: new Set(names) };
  });
}

const reached = memoTable<Reached>();
const views = memoTable<SortedView>();

/** Returns a view with only the clusters that are used. */
export const usedClusters = (view: SortedView, { names }: Reached): SortedView =>
  views([view, names], '', () =>
    withResources(
      noResources,
      [...names].map((name) => [name, view.resources.get(name)] as const),
    ),
  );
