import {
  type RouteMatchSchema,
  type RouteSchema,
  VirtualHost_TlsRequirementType as TlsRequirement,
} from '../../../shared/proto/envoy/config/route/v3/route_components_pb.ts';
import type { Init } from '../encoding/typed-config.ts';
import { keyOf, type Resource, type ResourceKey } from '../../istio/documents/model.ts';
import type { Environment } from '../../environment/environment.ts';
import type { XdsResource } from '../../push/view.ts';
import { hostsAt, rulesOfGateway } from '../scope/gateway-rules.ts';
import { type MergedServer, mergedGatewayOf } from '../scope/merged-gateway.ts';
import { memoTable } from '../scope/memo.ts';
import { destinationPort } from '../scope/destination-port.ts';
import type { ProxyNode } from '../scope/proxy-node.ts';
import { scopeOfRulesFor, scopeOfVirtualServices, distinguishesCallers } from '../scope/scope.ts';
import type { Services } from '../scope/visible-services.ts';
import { encodedRoutes } from './encoded-routes.ts';
import { encodedVirtualHost, type VirtualHost } from './encoded-virtual-host.ts';
import { hashPolicyOf } from './hash-policy.ts';
import { routesOfVirtualService } from './route.ts';
import { takesAll } from './route-match.ts';
import { hashingRules, type RulesOf, rulesOfHosts } from './rules-of-hosts.ts';
import { domainOf, virtualHostName } from './virtual-host-domains.ts';

type Rule = Resource<'VirtualService'>;

/** The routes of the HTTP servers of a gateway. */
interface GatewayRoutes {
  readonly resources: readonly XdsResource[];
  /** The names of all clusters that a route leads to. */
  readonly clusters: ReadonlySet<string>;
}

/** Returns the route configurations of the HTTP servers of a gateway. */
export function gatewayRoutes(
  environment: Environment,
  node: ProxyNode,
  services: Services,
): GatewayRoutes {
  const { virtualServices, destinationRules, mesh } = environment;
  const merged = mergedGatewayOf(environment, node);
  const text = JSON.stringify([
    scopeOfRulesFor(environment, node),
    scopeOfVirtualServices(environment, node),
    node.namespace,
  ]);
  return ofScope([services, virtualServices, destinationRules, mesh, merged], text, () => {
    const rulesOf = rulesOfHosts(environment, node, services);
    const clusters = new Set<string>();
    const resources = [...merged.routes].map(([name, servers]) => {
      const hosts = hostsOf(environment, node, servers).flatMap(
        (plan) => virtualHost(plan, node, services, rulesOf) ?? [],
      );
      for (const cluster of hosts.flatMap((host) => host.clusters)) clusters.add(cluster);
      const [first] = servers;
      const virtualHosts = hosts.length > 0 || first === undefined ? hosts : [noHost(first)];
      return encodedRoutes(
        name,
        virtualHosts.map(({ body }) => body),
        [
          ...new Set([
            ...servers.map(({ gateway }) => keyOf(gateway)),
            ...virtualHosts.flatMap(({ keys }) => keys),
          ]),
        ],
        'ignored',
      );
    });
    return { resources, clusters };
  });
}

const ofScope = memoTable<GatewayRoutes>();

/** A rule that applies to a host, and the server through which it applies. */
interface ServedRule {
  readonly rule: Rule;
  readonly mergedServer: MergedServer;
}

/** A virtual host before it is encoded. */
interface Plan {
  readonly name: string;
  readonly domains: readonly string[];
  readonly servedRules: readonly ServedRule[];
  /** Whether plain-text requests are redirected to HTTPS. */
  readonly tls: 'any' | 'required';
}

/** Returns whether plain text is not served: a server with a flaw does not serve it either. */
const needsTls = ({ server: { tls } }: MergedServer): boolean =>
  tls.mode === 'redirect' || tls.mode === 'closed';

/**
 * Returns the hosts of the servers of one route configuration that rules have too, sorted by name.
 */
function hostsOf(
  environment: Environment,
  node: ProxyNode,
  servers: readonly MergedServer[],
): readonly Plan[] {
  const plans = new Map<string, Plan>();
  for (const mergedServer of servers) {
    const { number } = mergedServer.server.port;
    const add = (host: string, servedRules: readonly ServedRule[]): void => {
      const before = plans.get(host);
      plans.set(host, {
        name: before?.name ?? virtualHostName(host, number),
        domains: [domainOf(host)],
        servedRules: [...(before?.servedRules ?? []), ...servedRules],
        tls: needsTls(mergedServer) ? 'required' : (before?.tls ?? 'any'),
      });
    };
    for (const rule of rulesOfGateway(environment, node, mergedServer.gatewayName))
      if (rule.spec.http.length > 0)
        for (const host of hostsAt(rule, mergedServer.server.hosts))
          add(host, [{ rule, mergedServer }]);
    if (needsTls(mergedServer)) for (const { host } of mergedServer.server.hosts) add(host, []);
  }
  return joined([...plans.values()].sort((a, b) => (a.name < b.name ? -1 : 1)));
}

/** Merges hosts with the same routes into one virtual host. */
function joined(plans: readonly Plan[]): readonly Plan[] {
  const groups = new Map<string, Plan>();
  for (const plan of plans) {
    const key = JSON.stringify([
      plan.tls,
      plan.servedRules.map(({ rule, mergedServer }) => [
        keyOf(rule),
        mergedServer.gatewayName,
        mergedServer.server.port.number,
      ]),
      plan.servedRules.length === 0 ? plan.name : '',
    ]);
    const before = groups.get(key);
    groups.set(
      key,
      before === undefined ? plan : { ...before, domains: [...before.domains, ...plan.domains] },
    );
  }
  return [...groups.values()];
}

interface RoutedHost extends VirtualHost {
  readonly clusters: readonly string[];
}

const sharedHost = memoTable<RoutedHost | undefined>();

/** Returns undefined if no route is for a gateway, and the hosts do not require TLS. */
function virtualHost(
  { name, domains, servedRules, tls }: Plan,
  node: ProxyNode,
  services: Services,
  rulesOf: RulesOf,
): RoutedHost | undefined {
  const hashing = servedRules.flatMap(({ rule }) => hashingRules(rule, rulesOf));
  const isByCaller = servedRules.some(({ rule }) => distinguishesCallers(rule));
  const destinations = servedRules.map(({ rule, mergedServer }) => {
    const { number } = mergedServer.server.port;
    const to = rule.spec.http.flatMap(({ route, mirrors }) =>
      [...route, ...mirrors].map(({ destination: { host } }) =>
        destinationPort(services, host, number),
      ),
    );
    return [mergedServer.gatewayName, number, mergedServer.server.port.protocol === 'https', to];
  });
  const text = [name, domains, tls, isByCaller ? [node.namespace, node.labels] : [], destinations];
  return sharedHost(
    [...servedRules.map(({ rule }) => rule), ...hashing],
    JSON.stringify(text),
    () => {
      const routes = servedRules.flatMap(
        ({ rule, mergedServer: { gatewayName: gateway, server } }) =>
          routesOfVirtualService(
            rule,
            { ...node, gateway },
            {
              port: server.port.number,
              scheme: server.port.protocol === 'https' ? 'https' : 'http',
              portOf: (host) => destinationPort(services, host, server.port.number),
              hashPolicy: ({ host, subset, port }) =>
                hashPolicyOf(rulesOf(host)?.spec, subset, port),
            },
          ),
      );
      if (routes.length === 0 && tls === 'any') return undefined;
      const sorted = [
        ...routes.filter((route) => !isCatchAll(route)),
        ...routes.filter(isCatchAll),
      ];
      const keys: readonly ResourceKey[] = [
        ...servedRules.map(({ rule }) => keyOf(rule)),
        ...hashing.flatMap((destinationRule) => destinationRule.keys),
      ];
      const body = encodedVirtualHost(
        name,
        domains,
        sorted,
        tls === 'required' ? { requireTls: TlsRequirement.ALL } : {},
      );
      return { name, body, keys, clusters: routes.flatMap(clustersOf) };
    },
  );
}

const isCatchAll = ({ match }: Init<typeof RouteSchema>): boolean =>
  match === undefined || takesAll(match as Init<typeof RouteMatchSchema>);

/** Returns the clusters that a route leads to. */
function clustersOf({ action }: Init<typeof RouteSchema>): readonly string[] {
  if (action?.case !== 'route') return [];
  const { clusterSpecifier: to, requestMirrorPolicies: mirrors = [] } = action.value;
  const named =
    to?.case === 'cluster'
      ? [to.value]
      : to?.case === 'weightedClusters'
        ? (to.value.clusters ?? []).map(({ name }) => name)
        : [];
  return [...named, ...mirrors.map(({ cluster }) => cluster)].filter((name) => name !== undefined);
}

/** Returns the virtual host for all hosts if no rule applies to any: every request gets a 404. */
function noHost({ server }: MergedServer): VirtualHost {
  const name = virtualHostName('blackhole', server.port.number);
  const body = encodedVirtualHost(name, ['*'], [], { includeRequestAttemptCount: false });
  return { name, body, keys: [] };
}
