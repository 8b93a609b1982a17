import {
  createRegistry,
  type DescMessage,
  fromBinary,
  type JsonObject,
  type JsonValue,
  type Message,
  toJson,
} from '@bufbuild/protobuf';
import { ClusterSchema } from '../../shared/proto/envoy/config/cluster/v3/cluster_pb.ts';
import { ClusterLoadAssignmentSchema } from '../../shared/proto/envoy/config/endpoint/v3/endpoint_pb.ts';
import { ListenerSchema } from '../../shared/proto/envoy/config/listener/v3/listener_pb.ts';
import { RouteConfigurationSchema } from '../../shared/proto/envoy/config/route/v3/route_pb.ts';
import { file_envoy_config_trace_v3_datadog } from '../../shared/proto/envoy/config/trace/v3/datadog_pb.ts';
import { file_envoy_config_trace_v3_opentelemetry } from '../../shared/proto/envoy/config/trace/v3/opentelemetry_pb.ts';
import { file_envoy_config_trace_v3_skywalking } from '../../shared/proto/envoy/config/trace/v3/skywalking_pb.ts';
import { file_envoy_config_trace_v3_zipkin } from '../../shared/proto/envoy/config/trace/v3/zipkin_pb.ts';
import { file_envoy_extensions_access_loggers_file_v3_file } from '../../shared/proto/envoy/extensions/access_loggers/file/v3/file_pb.ts';
import { file_envoy_extensions_access_loggers_filters_cel_v3_cel } from '../../shared/proto/envoy/extensions/access_loggers/filters/cel/v3/cel_pb.ts';
import { file_envoy_extensions_access_loggers_grpc_v3_als } from '../../shared/proto/envoy/extensions/access_loggers/grpc/v3/als_pb.ts';
import { file_envoy_extensions_access_loggers_open_telemetry_v3_logs_service } from '../../shared/proto/envoy/extensions/access_loggers/open_telemetry/v3/logs_service_pb.ts';
import { file_envoy_extensions_clusters_dynamic_forward_proxy_v3_cluster } from '../../shared/proto/envoy/extensions/clusters/dynamic_forward_proxy/v3/cluster_pb.ts';
import { file_envoy_extensions_filters_http_cors_v3_cors } from '../../shared/proto/envoy/extensions/filters/http/cors/v3/cors_pb.ts';
import { file_envoy_extensions_filters_http_dynamic_forward_proxy_v3_dynamic_forward_proxy } from '../../shared/proto/envoy/extensions/filters/http/dynamic_forward_proxy/v3/dynamic_forward_proxy_pb.ts';
import { file_envoy_extensions_filters_http_ext_authz_v3_ext_authz } from '../../shared/proto/envoy/extensions/filters/http/ext_authz/v3/ext_authz_pb.ts';
import { file_envoy_extensions_filters_http_fault_v3_fault } from '../../shared/proto/envoy/extensions/filters/http/fault/v3/fault_pb.ts';
import { file_envoy_extensions_filters_http_grpc_stats_v3_config } from '../../shared/proto/envoy/extensions/filters/http/grpc_stats/v3/config_pb.ts';
import { file_envoy_extensions_filters_http_grpc_web_v3_grpc_web } from '../../shared/proto/envoy/extensions/filters/http/grpc_web/v3/grpc_web_pb.ts';
import { file_envoy_extensions_filters_http_jwt_authn_v3_config } from '../../shared/proto/envoy/extensions/filters/http/jwt_authn/v3/config_pb.ts';
import { file_envoy_extensions_filters_http_rbac_v3_rbac } from '../../shared/proto/envoy/extensions/filters/http/rbac/v3/rbac_pb.ts';
import { file_envoy_extensions_filters_http_router_v3_router } from '../../shared/proto/envoy/extensions/filters/http/router/v3/router_pb.ts';
import { file_envoy_extensions_filters_listener_http_inspector_v3_http_inspector } from '../../shared/proto/envoy/extensions/filters/listener/http_inspector/v3/http_inspector_pb.ts';
import { file_envoy_extensions_filters_listener_original_dst_v3_original_dst } from '../../shared/proto/envoy/extensions/filters/listener/original_dst/v3/original_dst_pb.ts';
import { file_envoy_extensions_filters_listener_original_src_v3_original_src } from '../../shared/proto/envoy/extensions/filters/listener/original_src/v3/original_src_pb.ts';
import { file_envoy_extensions_filters_listener_tls_inspector_v3_tls_inspector } from '../../shared/proto/envoy/extensions/filters/listener/tls_inspector/v3/tls_inspector_pb.ts';
import { file_envoy_extensions_filters_network_ext_authz_v3_ext_authz } from '../../shared/proto/envoy/extensions/filters/network/ext_authz/v3/ext_authz_pb.ts';
import { file_envoy_extensions_filters_network_http_connection_manager_v3_http_connection_manager } from '../../shared/proto/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.ts';
import { file_envoy_extensions_filters_network_mongo_proxy_v3_mongo_proxy } from '../../shared/proto/envoy/extensions/filters/network/mongo_proxy/v3/mongo_proxy_pb.ts';
import { file_envoy_extensions_filters_network_rbac_v3_rbac } from '../../shared/proto/envoy/extensions/filters/network/rbac/v3/rbac_pb.ts';
import { file_envoy_extensions_filters_network_sni_cluster_v3_sni_cluster } from '../../shared/proto/envoy/extensions/filters/network/sni_cluster/v3/sni_cluster_pb.ts';
import { file_envoy_extensions_filters_network_sni_dynamic_forward_proxy_v3_sni_dynamic_forward_proxy } from '../../shared/proto/envoy/extensions/filters/network/sni_dynamic_forward_proxy/v3/sni_dynamic_forward_proxy_pb.ts';
import { file_envoy_extensions_filters_network_tcp_proxy_v3_tcp_proxy } from '../../shared/proto/envoy/extensions/filters/network/tcp_proxy/v3/tcp_proxy_pb.ts';
import { file_envoy_extensions_network_dns_resolver_cares_v3_cares_dns_resolver } from '../../shared/proto/envoy/extensions/network/dns_resolver/cares/v3/cares_dns_resolver_pb.ts';
import { file_envoy_extensions_formatter_req_without_query_v3_req_without_query } from '../../shared/proto/envoy/extensions/formatter/req_without_query/v3/req_without_query_pb.ts';
import { file_envoy_extensions_path_match_uri_template_v3_uri_template_match } from '../../shared/proto/envoy/extensions/path/match/uri_template/v3/uri_template_match_pb.ts';
import { file_envoy_extensions_request_id_uuid_v3_uuid } from '../../shared/proto/envoy/extensions/request_id/uuid/v3/uuid_pb.ts';
import { file_envoy_extensions_retry_host_previous_hosts_v3_previous_hosts } from '../../shared/proto/envoy/extensions/retry/host/previous_hosts/v3/previous_hosts_pb.ts';
import { file_envoy_extensions_retry_priority_previous_priorities_v3_previous_priorities_config } from '../../shared/proto/envoy/extensions/retry/priority/previous_priorities/v3/previous_priorities_config_pb.ts';
import { file_envoy_extensions_tracers_opentelemetry_resource_detectors_v3_dynatrace_resource_detector } from '../../shared/proto/envoy/extensions/tracers/opentelemetry/resource_detectors/v3/dynatrace_resource_detector_pb.ts';
import { file_envoy_extensions_tracers_opentelemetry_resource_detectors_v3_environment_resource_detector } from '../../shared/proto/envoy/extensions/tracers/opentelemetry/resource_detectors/v3/environment_resource_detector_pb.ts';
import { file_envoy_extensions_transport_sockets_proxy_protocol_v3_upstream_proxy_protocol } from '../../shared/proto/envoy/extensions/transport_sockets/proxy_protocol/v3/upstream_proxy_protocol_pb.ts';
import { file_envoy_extensions_transport_sockets_raw_buffer_v3_raw_buffer } from '../../shared/proto/envoy/extensions/transport_sockets/raw_buffer/v3/raw_buffer_pb.ts';
import { file_envoy_extensions_transport_sockets_tls_v3_tls } from '../../shared/proto/envoy/extensions/transport_sockets/tls/v3/tls_pb.ts';
import { file_envoy_extensions_upstreams_http_v3_http_protocol_options } from '../../shared/proto/envoy/extensions/upstreams/http/v3/http_protocol_options_pb.ts';
import type { View, XdsResource, XdsType } from '../push/view.ts';

/** The messages in an Any of generated resources. */
const registry = createRegistry(
  file_envoy_config_trace_v3_datadog,
  file_envoy_config_trace_v3_opentelemetry,
  file_envoy_config_trace_v3_skywalking,
  file_envoy_config_trace_v3_zipkin,
  file_envoy_extensions_access_loggers_file_v3_file,
  file_envoy_extensions_access_loggers_filters_cel_v3_cel,
  file_envoy_extensions_access_loggers_grpc_v3_als,
  file_envoy_extensions_access_loggers_open_telemetry_v3_logs_service,
  file_envoy_extensions_formatter_req_without_query_v3_req_without_query,
  file_envoy_extensions_clusters_dynamic_forward_proxy_v3_cluster,
  file_envoy_extensions_filters_http_cors_v3_cors,
  file_envoy_extensions_filters_http_dynamic_forward_proxy_v3_dynamic_forward_proxy,
  file_envoy_extensions_filters_http_ext_authz_v3_ext_authz,
  file_envoy_extensions_filters_http_fault_v3_fault,
  file_envoy_extensions_filters_http_grpc_stats_v3_config,
  file_envoy_extensions_filters_http_grpc_web_v3_grpc_web,
  file_envoy_extensions_filters_http_jwt_authn_v3_config,
  file_envoy_extensions_filters_http_rbac_v3_rbac,
  file_envoy_extensions_filters_http_router_v3_router,
  file_envoy_extensions_filters_listener_http_inspector_v3_http_inspector,
  file_envoy_extensions_filters_listener_original_dst_v3_original_dst,
  file_envoy_extensions_filters_listener_original_src_v3_original_src,
  file_envoy_extensions_filters_listener_tls_inspector_v3_tls_inspector,
  file_envoy_extensions_filters_network_ext_authz_v3_ext_authz,
  file_envoy_extensions_filters_network_http_connection_manager_v3_http_connection_manager,
  file_envoy_extensions_filters_network_mongo_proxy_v3_mongo_proxy,
  file_envoy_extensions_filters_network_rbac_v3_rbac,
  file_envoy_extensions_filters_network_sni_cluster_v3_sni_cluster,
  file_envoy_extensions_filters_network_sni_dynamic_forward_proxy_v3_sni_dynamic_forward_proxy,
  file_envoy_extensions_filters_network_tcp_proxy_v3_tcp_proxy,
  file_envoy_extensions_network_dns_resolver_cares_v3_cares_dns_resolver,
  file_envoy_extensions_path_match_uri_template_v3_uri_template_match,
  file_envoy_extensions_request_id_uuid_v3_uuid,
  file_envoy_extensions_retry_host_previous_hosts_v3_previous_hosts,
  file_envoy_extensions_retry_priority_previous_priorities_v3_previous_priorities_config,
  file_envoy_extensions_tracers_opentelemetry_resource_detectors_v3_dynatrace_resource_detector,
  file_envoy_extensions_tracers_opentelemetry_resource_detectors_v3_environment_resource_detector,
  file_envoy_extensions_transport_sockets_proxy_protocol_v3_upstream_proxy_protocol,
  file_envoy_extensions_transport_sockets_raw_buffer_v3_raw_buffer,
  file_envoy_extensions_transport_sockets_tls_v3_tls,
  file_envoy_extensions_upstreams_http_v3_http_protocol_options,
);

const schemas: Readonly<Record<XdsType, DescMessage>> = {
  cluster: ClusterSchema,
  endpoint: ClusterLoadAssignmentSchema,
  listener: ListenerSchema,
  route: RouteConfigurationSchema,
};

/** Returns a message of Envoy as JSON, with Envoy's names of fields. Pure. */
export const messageJson = (schema: DescMessage, message: Message): JsonObject =>
  toJson(schema, message, { registry, useProtoFieldName: true }) as JsonObject;

/** Returns a resource as JSON, with Envoy's names of fields and without tokens. Pure. */
export function resourceJson(type: XdsType, { body }: Pick<XdsResource, 'body'>): JsonObject {
  const message = messageJson(schemas[type], fromBinary(schemas[type], body));
  // Only listeners have tracers.
  return type === 'listener' ? (withoutTokens(message) as JsonObject) : message;
}

/**
 * Returns a message without the values of headers that the exporters of spans send: they may be
 * tokens.
 */
function withoutTokens(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutTokens);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      name === 'initial_metadata' || name === 'http_service'
        ? withoutValues(member)
        : withoutTokens(member),
    ]),
  );
}

function withoutValues(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutValues);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      name === 'value' ? '***' : withoutValues(member),
    ]),
  );
}

/**
 * Returns the resources of one type that a proxy may have, with Envoy's names of fields and without
 * tokens. Pure.
 */
export function printed(
  view: View,
  type: XdsType,
): readonly { readonly version: string; readonly name: string; readonly json: JsonObject }[] {
  return [...view[type].resources.values()].map((resource) => ({
    name: resource.name,
    version: resource.version,
    json: resourceJson(type, resource),
  }));
}

/**
 * Returns all resources that a proxy may have, in the form of Envoy's `/config_dump`. Pure.
 * https://www.envoyproxy.io/docs/envoy/latest/api-v3/admin/v3/config_dump_shared.proto
 */
export function configDump(view: View): unknown {
  const dump = (
    name: string,
    type: XdsType,
    list: string,
    entryOf: (resource: ReturnType<typeof printed>[number]) => unknown,
  ) => ({
    '@type': `type.googleapis.com/envoy.admin.v3.${name}`,
    ...(type !== 'endpoint' && type !== 'route' && { version_info: view[type].version }),
    [list]: printed(view, type).map(entryOf),
  });
  return {
    configs: [
      dump('ClustersConfigDump', 'cluster', 'dynamic_active_clusters', ({ version, json }) => ({
        version_info: version,
        cluster: json,
      })),
      dump('EndpointsConfigDump', 'endpoint', 'dynamic_endpoint_configs', ({ version, json }) => ({
        version_info: version,
        endpoint_config: json,
      })),
      dump('ListenersConfigDump', 'listener', 'dynamic_listeners', ({ name, version, json }) => ({
        name,
        active_state: { version_info: version, listener: json },
      })),
      dump('RoutesConfigDump', 'route', 'dynamic_route_configs', ({ version, json }) => ({
        version_info: version,
        route_config: json,
      })),
    ],
  };
}
