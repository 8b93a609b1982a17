import type { TlsSettings } from '../config/proxy-config.ts';
import { isIpAddress } from '../node/is-ip-address.ts';
import type { BootstrapInputs } from './bootstrap-inputs.ts';
import type { Findings } from './findings.ts';
import { googleTracer } from './google-tracer.ts';
import type { Json } from './json.ts';
import { openTelemetry } from './open-telemetry.ts';
import { remoteCluster } from './remote-cluster.ts';
import { socketAddress } from './socket-address.ts';
import { typedConfig } from './typed-config.ts';
import { upstreamTls } from './upstream-tls.ts';

/** A tracer of Envoy, and the cluster that it sends to, if it needs one. */
export interface Tracing {
  readonly http: Json;
  readonly cluster: Json;
}

interface Collector {
  readonly cluster: string;
  readonly place: string;
  readonly address: string;
  readonly http2: boolean;
  readonly tls: TlsSettings | undefined;
}

/**
 * The tracer that the configuration names: the first of zipkin, lightstep, datadog, stackdriver and OpenTelemetry. Pure.
 *
 * Envoy has no tracers for lightstep and stackdriver any more; their collectors are reached by OpenTelemetry, and a warning says so.
 */
export function tracing(inputs: BootstrapInputs, findings: Findings): Tracing | undefined {
  const { config } = inputs;
  if (config.tracing === undefined) return undefined;
  const { zipkin, lightstep, datadog, stackdriver, openTelemetry: collector, tlsSettings: tls } = config.tracing;
  const service = config.serviceCluster;
  const cluster = (to: Collector) => collectorCluster(to, inputs, findings);

  if (zipkin !== undefined) {
    const place = 'tracing.zipkin.address';
    return { http: zipkinTracer, cluster: cluster({ cluster: 'zipkin', place, address: zipkin.address, http2: false, tls }) };
  }
  if (lightstep !== undefined) {
    const { address, accessToken, secure, cacertPath: caCertificates } = lightstep;
    if (!/^[\x21-\x7e]*$/.test(accessToken))
      findings.problems.push({ place: 'tracing.lightstep.accessToken', text: 'has a character that no HTTP header can carry' });
    findings.warnings.push('tracing.lightstep: Envoy has no LightStep tracer any more: traces go to its address as OpenTelemetry (OTLP over gRPC)'); // prettier-ignore
    const token = [{ key: 'lightstep-access-token', value: accessToken }];
    const place = 'tracing.lightstep.address';
    const ownTls = secure ? simpleTls(address, caCertificates) : undefined;
    return {
      http: openTelemetry(service, { envoy_grpc: { cluster_name: 'lightstep' }, initial_metadata: token }),
      cluster: cluster({ cluster: 'lightstep', place, address, http2: true, tls: tls ?? ownTls }),
    };
  }
  if (datadog !== undefined) {
    const fields = { collector_cluster: 'datadog_agent', service_name: service };
    const place = 'tracing.datadog.address';
    return {
      http: { name: 'envoy.tracers.datadog', typed_config: typedConfig('config.trace.v3.DatadogConfig', fields) },
      cluster: cluster({ cluster: 'datadog_agent', place, address: datadog.address, http2: false, tls }),
    };
  }
  if (stackdriver !== undefined) {
    findings.warnings.push('tracing.stackdriver: Envoy has no Stackdriver tracer any more: traces go to telemetry.googleapis.com as OpenTelemetry, without its debug output and its limits'); // prettier-ignore
    return { http: googleTracer(inputs), cluster: undefined };
  }
  if (collector === undefined) return undefined;
  const place = 'tracing.openTelemetry.address';
  return {
    http: openTelemetry(service, { envoy_grpc: { cluster_name: 'opentelemetry_collector' } }),
    cluster: cluster({ cluster: 'opentelemetry_collector', place, address: collector.address, http2: true, tls }),
  };
}

const zipkinTracer: Json = {
  name: 'envoy.tracers.zipkin',
  typed_config: typedConfig('config.trace.v3.ZipkinConfig', {
    collector_cluster: 'zipkin',
    collector_endpoint: '/api/v2/spans',
    collector_endpoint_version: 'HTTP_JSON',
    trace_id_128bit: true,
    shared_span_context: false,
  }),
};

function collectorCluster({ cluster, place, address, http2, tls }: Collector, inputs: BootstrapInputs, findings: Findings): Json {
  const { config, ipv6, metadata } = inputs;
  const target = socketAddress(address);
  if (target === undefined) {
    findings.problems.push({ place, text: `'${address}' is not host:port` });
    return undefined;
  }
  const context = tls && upstreamTls({ settings: tls, place: 'tracing.tlsSettings', metadata, http2, name: 'tracer' }, findings);
  return remoteCluster({ name: cluster, address: target, http2, tls: context }, config, ipv6);
}

/** LightStep's own two settings (Go agent 1.5), as those that came after. */
function simpleTls(address: string, caCertificates: string): TlsSettings {
  const host = socketAddress(address)?.address ?? '';
  const sni = isIpAddress(host) ? '' : host;
  return { mode: 'SIMPLE', caCertificates, clientCertificate: '', privateKey: '', sni, subjectAltNames: [] };
}
