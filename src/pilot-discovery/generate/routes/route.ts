import { configMetadata } from '../encoding/config-metadata.ts';
import type { Resource } from '../../istio/documents/model.ts';
import type { Labels } from '../../istio/fields/values.ts';
import type { HttpMatch, HttpRoute } from '../../istio/traffic/virtual-service.ts';
import type {
  RouteMatchSchema,
  RouteSchema,
} from '../../../shared/proto/envoy/config/route/v3/route_components_pb.ts';
import { headersToAdd } from './header-operations.ts';
import { selects } from '../scope/peer-authentication-of.ts';
import { routeAction, type RouteSurroundings } from './route-action.ts';
import { routeFilters } from './route-filters.ts';
import { pathOf, routeMatch, takesAll } from './route-match.ts';
import type { Init } from '../encoding/typed-config.ts';

type Route = Init<typeof RouteSchema>;
type RouteMatch = Init<typeof RouteMatchSchema>;

/** The proxy for which routes are made. */
export interface RouteCaller {
  readonly namespace: string;
  readonly labels: Labels;
  /** The gateway whose matches apply: `mesh` for a sidecar, else `NAMESPACE/NAME` of a Gateway. */
  readonly gateway: string;
}

/**
 * Returns the routes of a VirtualService at one port, one for each match, in its order. Leaves out
 * routes that follow one that takes all requests.
 */
export function routesOfVirtualService(
  rule: Resource<'VirtualService'>,
  caller: RouteCaller,
  around: RouteSurroundings,
): Route[] {
  const routes: Route[] = [];
  for (const http of rule.spec.http) {
    if (http.match.length === 0) return [...routes, routeOf(rule, http, undefined, around)];
    for (const match of http.match) {
      if (!isFor(match, caller, around.port)) continue;
      const route = routeOf(rule, http, match, around);
      routes.push(route);
      if (takesAll(routeMatch(match))) return routes;
    }
  }
  return routes;
}

/**
 * Returns whether a match applies to a proxy and a port. Its conditions on requests are left to
 * Envoy.
 */
function isFor(
  { port, gateways, sourceLabels, sourceNamespace }: HttpMatch,
  caller: RouteCaller,
  listenerPort: number,
): boolean {
  if (port !== 0 && port !== listenerPort) return false;
  if (gateways.length > 0) return gateways.includes(caller.gateway);
  return (
    selects(sourceLabels, caller.labels) &&
    (sourceNamespace === '' || sourceNamespace === caller.namespace)
  );
}

function routeOf(
  rule: Resource<'VirtualService'>,
  http: HttpRoute,
  match: HttpMatch | undefined,
  around: RouteSurroundings,
): Route {
  const envoyMatch = routeMatch(match);
  const action = routeAction(http, around);
  // The headers of an only destination become those of the route.
  const [only] =
    http.redirect === undefined && http.directResponse === undefined && http.route.length === 1
      ? http.route
      : [];
  const { request, response } = http.headers;
  return {
    name: match === undefined || match.name === '' ? http.name : `${http.name}.${match.name}`,
    match: envoyMatch,
    action,
    metadata: configMetadata('virtual-service', rule),
    decorator: { operation: operation(rule.name, action, envoyMatch, around.port) },
    requestHeadersToAdd: [
      ...headersToAdd(request),
      ...(only === undefined ? [] : headersToAdd(only.headers.request)),
    ],
    requestHeadersToRemove: [...request.remove, ...(only?.headers.request.remove ?? [])],
    responseHeadersToAdd: [
      ...headersToAdd(response),
      ...(only === undefined ? [] : headersToAdd(only.headers.response)),
    ],
    responseHeadersToRemove: [...response.remove, ...(only?.headers.response.remove ?? [])],
    typedPerFilterConfig: routeFilters(http),
    statPrefix: match?.statPrefix ?? '',
  };
}

/**
 * Returns the name of a span: the host, port and path that the request goes to. If there are
 * several hosts, the name of the rule replaces the host.
 */
function operation(
  ruleName: string,
  action: Route['action'],
  match: RouteMatch,
  port: number,
): string {
  const cluster =
    action?.case === 'route' && action.value.clusterSpecifier?.case === 'cluster'
      ? action.value.clusterSpecifier.value
      : '';
  const [, clusterPort, , host] = cluster.split('|');
  return `${host === undefined ? `${ruleName}:${port}` : `${host}:${clusterPort ?? ''}`}${pathOf(match)}`;
}
