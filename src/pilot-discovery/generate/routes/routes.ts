import { create, toBinary } from '@bufbuild/protobuf';
import {
  VirtualHostSchema,
  type RouteSchema,
} from '../../../shared/proto/envoy/config/route/v3/route_components_pb.ts';
import type { XdsResource } from '../../push/view.ts';
import { keyOf } from '../../istio/documents/model.ts';
import type { OutboundPolicy } from '../../istio/workloads/sidecar.ts';
import type { Environment } from '../../environment/environment.ts';
import { allPortsName, isForAllPorts } from '../scope/imported-services.ts';
import { memoTable } from '../scope/memo.ts';
import { boundEndpoints } from '../scope/outbound-bindings.ts';
import { bindingsText, outboundRouteNames } from '../scope/outbound-entries-of.ts';
import { type OutboundScope, outboundScope } from '../scope/outbound-scope.ts';
import type { ProxyNode } from '../scope/proxy-node.ts';
import type { ScopeBlock } from '../scope/scope-block.ts';
import { scopeOfDomain, scopeOfRulesFor, distinguishesCallers } from '../scope/scope.ts';
import { outboundPolicyOf, sidecarOf, unknownCluster } from '../scope/sidecar-of.ts';
import type { Init } from '../encoding/typed-config.ts';
import { encodedRoutes } from './encoded-routes.ts';
import { gatewayRoutes } from './gateway-routes.ts';
import { hashingRulesOf, rulesOfHosts } from './rules-of-hosts.ts';
import { virtualHosts, virtualHostsOfAllPorts } from './virtual-hosts.ts';
import type { VirtualHost } from './encoded-virtual-host.ts';
import { visibleServices } from '../scope/visible-services.ts';

/** Returns the route configurations to which the listeners of a proxy subscribe. */
export function routesOf(environment: Environment, node: ProxyNode): readonly XdsResource[] {
  if (node.role === 'router')
    return gatewayRoutes(environment, node, visibleServices(environment, node)).resources;
  const { mesh } = environment;
  const scope = outboundScope(environment, node);
  const text = JSON.stringify([
    scope.blocks.map(({ services }) => bindingsText(environment, node, services)),
    scopeOfRulesFor(environment, node),
    callerText(scope, node),
    scopeOfDomain(scope.services, node.dnsDomain),
  ]);
  return ofScope(
    [
      ...scope.blocks.flatMap(({ services, rules }) => [
        services,
        boundEndpoints(environment, services),
        rules,
      ]),
      hashingRulesOf(environment, node, scope.services),
      mesh,
      sidecarOf(environment, node) ?? noSidecar,
    ],
    text,
    () => routesFor(environment, node, scope),
  );
}

const ofScope = memoTable<readonly XdsResource[]>();
const noSidecar = {};

/** Returns the caller as a text if a VirtualService tells callers apart; else ''. */
const callerText = ({ blocks }: OutboundScope, { namespace, labels }: ProxyNode): string =>
  blocks.some(({ rules }) => isTold([rules], '', () => rules.some(distinguishesCallers)))
    ? JSON.stringify([namespace, labels])
    : '';

const isTold = memoTable<boolean>();

function routesFor(
  environment: Environment,
  node: ProxyNode,
  scope: OutboundScope,
): readonly XdsResource[] {
  const others = fallbackOf(outboundPolicyOf(environment, node));
  const sidecar = sidecarOf(environment, node);
  const policyKeys = sidecar?.spec.outboundTrafficPolicy === undefined ? [] : [keyOf(sidecar)];
  const rulesOf = rulesOfHosts(environment, node, scope.services);
  const withFallback = (
    name: string,
    hosts: readonly VirtualHost[],
    ports: 'ignored' | 'compared',
  ) =>
    encodedRoutes(
      name,
      [...hosts.map(({ body }) => body), others],
      [...hosts.flatMap(({ keys }) => keys), ...policyKeys],
      ports,
    );
  return outboundRouteNames(environment, node, scope).flatMap((name) => {
    const ofAllPorts = blockForAllPorts(scope, name);
    if (ofAllPorts !== undefined) {
      const hosts = virtualHostsOfAllPorts(node, ofAllPorts, rulesOf);
      return [withFallback(name, hosts, 'compared')];
    }
    const { host, port } = partsOf(name);
    const block = blockAt(scope, port);
    if (block === undefined) return [];
    if (host !== undefined) {
      const serviceHosts = virtualHosts(node, block, rulesOf, port, { to: 'service', host });
      return encodedRoutes(
        name,
        serviceHosts.map(({ body }) => body),
        serviceHosts.flatMap(({ keys }) => keys),
        'ignored',
      );
    }
    return [
      withFallback(name, virtualHosts(node, block, rulesOf, port, { to: 'port' }), 'ignored'),
    ];
  });
}

/** Returns the block with this name for its routes, if it has one listener for all ports. */
const blockForAllPorts = ({ blocks }: OutboundScope, name: string): ScopeBlock | undefined =>
  blocks.find(
    ({ egress }) => egress !== undefined && isForAllPorts(egress) && allPortsName(egress) === name,
  );

/** Returns the block with a port, else the block for all ports. */
const blockAt = ({ blocks }: OutboundScope, number: number): ScopeBlock | undefined =>
  blocks.find(({ egress }) => egress?.port === undefined || egress.port.number === number);

/** Splits `PORT`, or `HOST:PORT` for traffic to one service that may be HTTP. */
function partsOf(name: string): { readonly host: string | undefined; readonly port: number } {
  const colon = name.lastIndexOf(':');
  return colon < 0
    ? { host: undefined, port: Number(name) }
    : { host: name.slice(0, colon), port: Number(name.slice(colon + 1)) };
}

/** Returns a virtual host for all names that no other has. */
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

/** Returns where requests go whose host no resource names. */
function fallbackOf(policy: OutboundPolicy): Uint8Array {
  const cluster = unknownCluster(policy);
  return cluster === undefined
    ? fallback('block_all', { case: 'directResponse', value: { status: 502 } })
    : fallback('allow_any', {
        case: 'route',
        value: {
          clusterSpecifier: { case: 'cluster', value: cluster },
          timeout: {},
          maxGrpcTimeout: {},
        },
      });
}
