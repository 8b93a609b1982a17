import type { Resource } from '../../istio/model.ts';
import type { Labels } from '../../istio/values.ts';
import type { HttpMatch, HttpRoute } from '../../istio/virtual-service.ts';
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

/** Whom routes are made for. */
export interface Caller {
  readonly namespace: string;
  readonly labels: Labels;
  /** What of the matches is for it: `mesh` for a sidecar, else `NAMESPACE/NAME` of a Gateway. */
  readonly gateway: string;
}

/**
 * The routes of a VirtualService at one port, a route for each match, in its order; none that could
 * not be reached after one that takes all requests.
 */
export function routesOfVirtualService(
  rule: Resource<'VirtualService'>,
  caller: Caller,
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

/** Whether a match holds for a proxy and a port; what it says of the request Envoy decides. */
function isFor(
  { port, gateways, sourceLabels, sourceNamespace }: HttpMatch,
  caller: Caller,
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
  of: HttpMatch | undefined,
  around: RouteSurroundings,
): Route {
  const match = routeMatch(of);
  const action = routeAction(http, around);
  // The headers of the only destination are those of the route.
  const [only] =
    http.redirect === undefined && http.directResponse === undefined && http.route.length === 1
      ? http.route
      : [];
  const { request, response } = http.headers;
  return {
    name: of === undefined || of.name === '' ? http.name : `${http.name}.${of.name}`,
    match,
    action,
    metadata: {
      filterMetadata: {
        istio: {
          config: `/apis/networking.istio.io/v1/namespaces/${rule.namespace}/virtual-service/${rule.name}`,
        },
      },
    },
    decorator: { operation: operation(rule.name, action, match, around.port) },
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
    statPrefix: of?.statPrefix ?? '',
  };
}

/**
 * What a span is called: the host, port and path that the request goes to; the rule instead of the
 * host where there are many.
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
