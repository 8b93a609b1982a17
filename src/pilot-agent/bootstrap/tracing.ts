import type { TlsSettings, Tracing } from '../config/proxy-config.ts';
import { isIpAddress } from '../../shared/text/host-port.ts';
import type { BootstrapInputs, NodeMetadata } from './bootstrap-inputs.ts';
import { remoteCluster, socketAddress } from './clusters.ts';
import { type Findings, type Json, sparing, typedConfig } from './proto-json.ts';
import { upstreamTls } from './upstream-tls.ts';

/** Returns the node's project on Google Cloud, if the platform named one. Pure. */
export function googleProject(metadata: NodeMetadata): string | undefined {
  const { gcp_project: project } = (metadata['PLATFORM_METADATA'] ?? {}) as NodeMetadata;
  return typeof project === 'string' && project !== '' ? project : undefined;
}

/** Returns Envoy's OpenTelemetry tracer: OTLP over gRPC. Pure. */
function openTelemetry(service: string, collector: Json, resourceDetectors?: Json): Json {
  const fields = {
    grpc_service: collector,
    service_name: service,
    resource_detectors: resourceDetectors,
  };
  return {
    name: 'envoy.tracers.opentelemetry',
    typed_config: typedConfig('config.trace.v3.OpenTelemetryConfig', fields),
  };
}

/** Google Cloud's endpoint for OTLP. */
const target = 'telemetry.googleapis.com:443';

/**
 * Returns a tracer that sends to Google Cloud, over Envoy's own Google gRPC client. Pure.
 *
 * It authenticates with the tokens of the exchange on `stsPort`, or, without one, with Google's
 * default credentials of the machine.
 */
function googleTracer({ config, metadata, stsPort }: BootstrapInputs): Json {
  const exchange = {
    token_exchange_service_uri: `http://localhost:${stsPort}/token`,
    subject_token_path: '/var/run/secrets/tokens/istio-token',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    scope: 'https://www.googleapis.com/auth/cloud-platform',
  };
  const credentials =
    stsPort > 0
      ? {
          channel_credentials: { ssl_credentials: {} },
          call_credentials: [{ sts_service: exchange }],
        }
      : { channel_credentials: { google_default: {} } };
  const project = googleProject(metadata);
  const collector = {
    google_grpc: { target_uri: target, stat_prefix: 'stackdriver', ...credentials },
    initial_metadata:
      project === undefined ? undefined : [{ key: 'x-goog-user-project', value: project }],
  };
  const detector = 'tracers.opentelemetry.resource_detectors';
  const attributes = { 'gcp.project_id': project };
  return openTelemetry(
    config.serviceCluster,
    collector,
    project === undefined
      ? undefined
      : [
          {
            name: `envoy.${detector}.static_config`,
            typed_config: typedConfig(
              `extensions.${detector}.v3.StaticConfigResourceDetectorConfig`,
              { attributes },
            ),
          },
        ],
  );
}

/** A tracer of Envoy, and the cluster that it sends to, if it needs one. */
export interface TracerResources {
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
 * Returns the tracer that the configuration names: the first of zipkin, lightstep, datadog,
 * stackdriver and OpenTelemetry. Pure.
 *
 * Envoy no longer has tracers for lightstep and stackdriver. It sends to their collectors by
 * OpenTelemetry, and a warning says so. If a tracer is wrong, there is a warning and no tracer.
 */
export function tracing(inputs: BootstrapInputs, findings: Findings): TracerResources | undefined {
  return sparing(findings, 'no traces are sent', (tracerFindings) =>
    tracer(inputs, tracerFindings),
  );
}

function tracer(inputs: BootstrapInputs, findings: Findings): TracerResources | undefined {
  const { tracing: configured, serviceCluster: service } = inputs.config;
  if (configured === undefined) return undefined;
  const { zipkin, lightstep, datadog, stackdriver, openTelemetry: collector } = configured;
  const cluster = (to: Omit<Collector, 'tls'>, ownTls?: TlsSettings) =>
    collectorCluster({ ...to, tls: configured.tlsSettings ?? ownTls }, inputs, findings);

  if (zipkin !== undefined) {
    const place = 'tracing.zipkin.address';
    return {
      http: zipkinTracer,
      cluster: cluster({ cluster: 'zipkin', place, address: zipkin.address, http2: false }),
    };
  }
  if (lightstep !== undefined) {
    const { address, secure, cacertPath } = lightstep;
    const place = 'tracing.lightstep.address';
    return {
      http: lightstepTracer(lightstep, service, findings),
      cluster: cluster(
        { cluster: 'lightstep', place, address, http2: true },
        secure ? simpleTls(address, cacertPath) : undefined,
      ),
    };
  }
  if (datadog !== undefined) {
    const place = 'tracing.datadog.address';
    return {
      http: datadogTracer(service),
      cluster: cluster({ cluster: 'datadog_agent', place, address: datadog.address, http2: false }),
    };
  }
  if (stackdriver !== undefined) {
    findings.warnings.push(
      'tracing.stackdriver: Envoy no longer has a Stackdriver tracer: traces go to telemetry.googleapis.com as OpenTelemetry, without its debug output and its limits',
    );
    return { http: googleTracer(inputs), cluster: undefined };
  }
  if (collector === undefined) return undefined;
  const name = 'opentelemetry_collector';
  const place = 'tracing.openTelemetry.address';
  return {
    http: openTelemetry(service, { envoy_grpc: { cluster_name: name } }),
    cluster: cluster({ cluster: name, place, address: collector.address, http2: true }),
  };
}

function lightstepTracer(
  { accessToken }: NonNullable<Tracing['lightstep']>,
  service: string,
  findings: Findings,
): Json {
  if (!/^[\x21-\x7e]*$/.test(accessToken))
    findings.problems.push({
      place: 'tracing.lightstep.accessToken',
      text: 'has a character that no HTTP header can carry',
    });
  findings.warnings.push(
    'tracing.lightstep: Envoy no longer has a LightStep tracer: traces go to its address as OpenTelemetry (OTLP over gRPC)',
  );
  return openTelemetry(service, {
    envoy_grpc: { cluster_name: 'lightstep' },
    initial_metadata: [{ key: 'lightstep-access-token', value: accessToken }],
  });
}

function datadogTracer(service: string): Json {
  return {
    name: 'envoy.tracers.datadog',
    typed_config: typedConfig('config.trace.v3.DatadogConfig', {
      collector_cluster: 'datadog_agent',
      service_name: service,
    }),
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

function collectorCluster(
  { cluster, place, address, http2, tls }: Collector,
  inputs: BootstrapInputs,
  findings: Findings,
): Json {
  const { config, ipv6, metadata } = inputs;
  const target = socketAddress(address);
  if (target === undefined) {
    findings.problems.push({ place, text: `'${address}' is not host:port` });
    return undefined;
  }
  const context =
    tls &&
    upstreamTls(
      { settings: tls, place: 'tracing.tlsSettings', metadata, http2, name: 'tracer' },
      findings,
    );
  return remoteCluster({ name: cluster, address: target, http2, tls: context }, config, ipv6);
}

/** Returns the TLS settings that LightStep's two older settings (Go agent 1.5) stand for. */
function simpleTls(address: string, caCertificates: string): TlsSettings {
  const host = socketAddress(address)?.address ?? '';
  const sni = isIpAddress(host) ? '' : host;
  return {
    mode: 'SIMPLE',
    caCertificates,
    clientCertificate: '',
    privateKey: '',
    sni,
    subjectAltNames: [],
  };
}
