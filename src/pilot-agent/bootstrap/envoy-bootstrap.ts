// Why: docs/decisions/038-envoy-waits-for-its-first-configuration.md
import type { BootstrapInputs } from './bootstrap-inputs.ts';
import { overloadManager } from './overload.ts';
import { type Findings, type Json, typedConfig, wellFormed } from './proto-json.ts';
import { discoversItself } from './own-cluster.ts';
import { portClashes, staticResources } from './static-resources.ts';
import { statLabels, statsConfig, statsInclusion, statsSinks, statsTags } from './stats.ts';
import { tracing } from './tracing.ts';
import type { Problem } from '../../shared/text/value.ts';
import { ownClusterName } from '../../shared/xds/own-cluster-name.ts';

export type BootstrapResult =
  | {
      readonly ok: true;
      readonly bootstrap: Readonly<Record<string, Json>>;
      readonly warnings: readonly string[];
    }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/**
 * Makes Envoy's bootstrap for xDS v3, with the sections of the Go agent 1.6, as a JSON object; or
 * returns all problems. Pure.
 *
 * Envoy 1.36 accepts the result for any inputs, if the files that it names exist.
 */
export function bootstrap(inputs: BootstrapInputs): BootstrapResult {
  const { config, metadata, addresses, ipv6 } = inputs;
  const { region, zone, subZone } = inputs.locality;
  const findings: Findings = { problems: [...portClashes(inputs)], warnings: [] };
  const given = (text: string) => (text === '' ? undefined : text);
  const accessLog = typedConfig('extensions.access_loggers.file.v3.FileAccessLog', {
    path: '/dev/null',
  });
  // Without a limit: an Envoy that gave up waiting would serve without a listener of the mesh.
  const dynamic = { ads: {}, initial_fetch_timeout: '0s', resource_api_version: 'V3' };
  const tracer = tracing(inputs, findings);
  const sinks = statsSinks(config, findings);

  const document = {
    node: {
      id: inputs.serviceNode,
      cluster: config.serviceCluster,
      locality: { region: given(region), zone: given(zone), sub_zone: given(subZone) },
      metadata,
    },
    stats_config: statsConfig(
      statsTags(statLabels(metadata, config.extraStatTags), findings),
      statsInclusion(metadata, addresses, findings),
    ),
    admin: {
      access_log: [{ name: 'envoy.access_loggers.file', typed_config: accessLog }],
      profile_path: '/var/lib/istio/data/envoy.prof',
      address: {
        socket_address: { address: ipv6 ? '::1' : '127.0.0.1', port_value: config.proxyAdminPort },
      },
      ignore_global_conn_limit: true, // the agent always needs to reach the admin endpoint
    },
    dynamic_resources: {
      lds_config: dynamic,
      cds_config: dynamic,
      ads_config: {
        api_type: inputs.deltaXds ? 'DELTA_GRPC' : 'GRPC',
        transport_api_version: 'V3',
        grpc_services: [{ envoy_grpc: { cluster_name: 'xds-grpc' } }],
      },
    },
    static_resources: staticResources(inputs, tracer?.cluster, findings),
    // Envoy warns that this field is deprecated. But if the control plane leaves the choice of a
    // tracer to the proxy, Envoy uses the tracer of this field.
    tracing: tracer && { http: tracer.http },
    overload_manager: inputs.hasOverloadManager
      ? undefined
      : overloadManager(inputs.memoryLimit, metadata, findings),
    stats_sinks: sinks.length === 0 ? undefined : sinks,
    cluster_manager: clusterManager(inputs),
  };
  return findings.problems.length > 0
    ? { ok: false, problems: findings.problems }
    : { ok: true, bootstrap: wellFormed(document), warnings: findings.warnings };
}

function clusterManager({ metadata, outlierLogPath }: BootstrapInputs): Json {
  const isLogged = outlierLogPath !== '';
  const isKnown = discoversItself(metadata);
  if (!isLogged && !isKnown) return undefined;
  return {
    outlier_detection: isLogged ? { event_log_path: outlierLogPath } : undefined,
    local_cluster_name: isKnown ? ownClusterName : undefined,
  };
}
