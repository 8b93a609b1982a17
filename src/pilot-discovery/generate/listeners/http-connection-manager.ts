import type { Protocol } from '../../istio/fields/values.ts';
import { ApiVersion } from '../../../shared/proto/envoy/config/core/v3/config_source_pb.ts';
import type { RouteConfigurationSchema } from '../../../shared/proto/envoy/config/route/v3/route_pb.ts';
import { CorsSchema } from '../../../shared/proto/envoy/extensions/filters/http/cors/v3/cors_pb.ts';
import { HTTPFaultSchema } from '../../../shared/proto/envoy/extensions/filters/http/fault/v3/fault_pb.ts';
import { FilterConfigSchema } from '../../../shared/proto/envoy/extensions/filters/http/grpc_stats/v3/config_pb.ts';
import { GrpcWebSchema } from '../../../shared/proto/envoy/extensions/filters/http/grpc_web/v3/grpc_web_pb.ts';
import { RouterSchema } from '../../../shared/proto/envoy/extensions/filters/http/router/v3/router_pb.ts';
import {
  HttpConnectionManager_ForwardClientCertDetails as ForwardClientCertDetails,
  HttpConnectionManager_PathWithEscapedSlashesAction as PathWithEscapedSlashesAction,
  HttpConnectionManagerSchema,
} from '../../../shared/proto/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.ts';
import { UuidRequestIdConfigSchema } from '../../../shared/proto/envoy/extensions/request_id/uuid/v3/uuid_pb.ts';
import { hostResolver } from './host-resolver.ts';
import type { Reporting } from './reporting.ts';
import type { ProxyNode } from '../scope/proxy-node.ts';
import type { Services } from '../scope/visible-services.ts';
import { packed, typedConfig, type TypedConfig, type Init } from '../encoding/typed-config.ts';
import { isHttp2 } from '../../istio/fields/is-http.ts';

type Manager = Init<typeof HttpConnectionManagerSchema>;

/**
 * Returns the filter of an outbound chain. It takes HTTP of the application, and subscribes to its
 * routes by name.
 */
export function outboundManager(
  reporting: Reporting,
  node: ProxyNode,
  services: Services,
  address: string,
  { routeName, protocol }: { readonly routeName: string; readonly protocol: Protocol },
): TypedConfig {
  return manager(reporting, node, {
    statPrefix: `outbound_${address};`,
    routeSpecifier: routesByName(routeName),
    httpFilters: filtersOf(protocol, [], hostResolver(node, services)),
  });
}

/**
 * Returns the filter of a gateway's chain. It takes HTTP, and subscribes to its routes by name.
 * `access` comes before all other filters. Headers in which clients state their own certificates
 * and addresses are not trusted.
 */
export function gatewayManager(
  reporting: Reporting,
  node: ProxyNode,
  access: readonly TypedConfig[],
  services: Services,
  address: string,
  { routeName, protocol }: { readonly routeName: string; readonly protocol: Protocol },
): TypedConfig {
  return manager(reporting, node, {
    statPrefix: `outbound_${address};`,
    routeSpecifier: routesByName(routeName),
    ...asServer,
    useRemoteAddress: true,
    forwardClientCertDetails: ForwardClientCertDetails.SANITIZE_SET,
    setCurrentClientCertDetails: { subject: true, cert: true, dns: true, uri: true },
    httpProtocolOptions: { acceptHttp10: node.http10 === 'accepted' },
    httpFilters: filtersOf(protocol, access, hostResolver(node, services)),
  });
}

const routesByName = (routeConfigName: string): NonNullable<Manager['routeSpecifier']> => ({
  case: 'rds',
  value: {
    configSource: {
      configSourceSpecifier: { case: 'ads', value: {} },
      initialFetchTimeout: {},
      resourceApiVersion: ApiVersion.V3,
    },
    routeConfigName,
  },
});

/**
 * Returns the filter of an inbound chain. It takes HTTP for the application, with its one route.
 * `access` comes before all other filters.
 */
export function inboundManager(
  reporting: Reporting,
  node: ProxyNode,
  access: readonly TypedConfig[],
  { statPrefix, protocol }: { readonly statPrefix: string; readonly protocol: Protocol },
  routes: Init<typeof RouteConfigurationSchema>,
): TypedConfig {
  return manager(reporting, node, {
    statPrefix,
    routeSpecifier: { case: 'routeConfig', value: routes },
    ...asServer,
    forwardClientCertDetails: ForwardClientCertDetails.APPEND_FORWARD,
    setCurrentClientCertDetails: { subject: true, dns: true, uri: true },
    ...(isHttp2(protocol) && { http2ProtocolOptions: {} }),
    httpFilters: filtersOf(protocol, access, []),
  });
}

const filtersOf = (
  protocol: Protocol,
  access: readonly TypedConfig[],
  resolver: readonly TypedConfig[],
): TypedConfig[] => [
  ...access,
  ...(protocol === 'grpc-web' ? [grpcWeb] : []),
  ...httpFilters,
  ...resolver,
  router,
];

function manager(
  { accessLog, tracing }: Reporting,
  node: ProxyNode,
  special: Manager,
): TypedConfig {
  return typedConfig('envoy.filters.network.http_connection_manager', HttpConnectionManagerSchema, {
    useRemoteAddress: false,
    ...(node.http10 === 'accepted' && { httpProtocolOptions: { acceptHttp10: true } }),
    ...special,
    ...(tracing.spans !== undefined && { tracing: tracing.spans }),
    streamIdleTimeout: {},
    accessLog,
    proxy100Continue: true,
    upgradeConfigs: [{ upgradeType: 'websocket' }],
    normalizePath: true,
    pathWithEscapedSlashesAction: PathWithEscapedSlashesAction.KEEP_UNCHANGED,
    requestIdExtension: {
      typedConfig: packed(UuidRequestIdConfigSchema, {
        useRequestIdForTraceSampling: tracing.sampledBy === 'request-id',
      }),
    },
  });
}

/** The name of the server in responses of a workload or a gateway. */
const asServer = { serverName: 'istio-envoy' } as const satisfies Manager;

const grpcWeb = typedConfig('envoy.filters.http.grpc_web', GrpcWebSchema);

const httpFilters = [
  typedConfig('envoy.filters.http.grpc_stats', FilterConfigSchema, {
    emitFilterState: true,
    perMethodStatSpecifier: { case: 'statsForAllMethods', value: { value: false } },
  }),
  typedConfig('envoy.filters.http.fault', HTTPFaultSchema),
  typedConfig('envoy.filters.http.cors', CorsSchema),
];

const router = typedConfig('envoy.filters.http.router', RouterSchema);
