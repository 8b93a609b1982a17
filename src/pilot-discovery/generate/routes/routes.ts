import { create, toBinary } from '@bufbuild/protobuf';
import {
  VirtualHostSchema,
  type RouteSchema,
} from '../../../shared/proto/envoy/config/route/v3/route_components_pb.ts';
import type { XdsResource } from '../../push/view.ts';
import { keyOf } from '../../istio/model.ts';
import type { Environment } from '../../environment/environment.ts';
import { memoTable } from '../scope/memo.ts';
import { boundEndpoints } from '../scope/outbound-bindings.ts';
import { bindingsText, outboundRouteNames } from '../scope/outbound-entries-of.ts';
import type { ProxyNode } from '../scope/proxy-node.ts';
import { scopeOfDomain, scopeOfRulesFor, scopeOfVirtualServices } from '../scope/scope.ts';
import { outboundPolicyOf, sidecarOf } from '../scope/sidecar-of.ts';
import type { Init } from '../encoding/typed-config.ts';
import { encodedRoutes } from './encoded-routes.ts';
import { gatewayRoutes } from './gateway-routes.ts';
import { virtualHosts } from './virtual-hosts.ts';
import { type Services, visibleServices } from '../scope/visible-services.ts';

/** Returns the route configurations to which the listeners of a proxy subscribe. */
export function routesOf(environment: Environment, node: ProxyNode): readonly XdsResource[] {
  const services = visibleServices(environment, node);
  if (node.role === 'router') return gatewayRoutes(environment, node, services).resources;
  const { virtualServices, destinationRules, mesh } = environment;
  const text = JSON.stringify([
    bindingsText(environment, node, services),
    scopeOfRulesFor(environment, node),
    scopeOfVirtualServices(environment, node),
    scopeOfDomain(services, node.dnsDomain),
  ]);
  return ofScope(
    [
      services,
      boundEndpoints(environment, services),
      virtualServices,
      destinationRules,
      mesh,
      sidecarOf(environment, node) ?? noSidecar,
    ],
    text,
    () => routesFor(environment, node, services),
  );
}

const ofScope = memoTable<readonly XdsResource[]>();
const noSidecar = {};

function routesFor(
  environment: Environment,
  node: ProxyNode,
  services: Services,
): readonly XdsResource[] {
  const policy = outboundPolicyOf(environment, node);
  const sidecar = sidecarOf(environment, node);
  const policyKeys = sidecar?.spec.outboundTrafficPolicy === undefined ? [] : [keyOf(sidecar)];
  return outboundRouteNames(environment, node, services).map((name) => {
    const { host, port } = partsOf(name);
    if (host !== undefined) {
      const own = virtualHosts(environment, node, services, port, host).filter(
        (one) => one.name === name,
      );
      return encodedRoutes(
        name,
        own.map(({ body }) => body),
        own.flatMap(({ keys }) => keys),
      );
    }
    const hosts = virtualHosts(environment, node, services, port);
    return encodedRoutes(
      name,
      [...hosts.map(({ body }) => body), fallbacks[policy]],
      [...hosts.flatMap(({ keys }) => keys), ...policyKeys],
    );
  });
}

/** Splits `PORT`, or `HOST:PORT` for traffic to one service that may be HTTP. */
function partsOf(name: string): { readonly host: string | undefined; readonly port: number } {
  const colon = name.lastIndexOf(':');
  return colon < 0
    ? { host: undefined, port: Number(name) }
    : { host: name.slice(0, colon), port: Number(name.slice(colon + 1)) };
}

/**
 * Returns the virtual host for all names that no other has. It leads to the original destination,
 * or to none.
 */
function fallback(name: string, action: Init<typeof RouteSchema>['action']): Uint8Array {
  const route: Init<typeof RouteSchema> = {
    name,
    match: { pathSpecifier: { case: 'prefix', value: '/' } },
    ...(action !== undefined && { action }),
  };
  return toBinary(
    VirtualHostSchema,
    create(VirtualHostSchema, {
      name,
      domains: ['*'],
      routes: [route],
      includeRequestAttemptCount: true,
    }),
  );
}

const fallbacks = {
  'allow-any': fallback('allow_any', {
    case: 'route',
    value: {
      clusterSpecifier: { case: 'cluster', value: 'PassthroughCluster' },
      timeout: {},
      maxGrpcTimeout: {},
    },
  }),
  'registry-only': fallback('block_all', { case: 'directResponse', value: { status: 502 } }),
};
