import { HeaderValueOption_HeaderAppendAction as HeaderAppendAction } from '../../../shared/proto/envoy/config/core/v3/base_pb.ts';
import type { GrpcServiceSchema } from '../../../shared/proto/envoy/config/core/v3/grpc_service_pb.ts';
import { DatadogConfigSchema } from '../../../shared/proto/envoy/config/trace/v3/datadog_pb.ts';
import { OpenTelemetryConfigSchema } from '../../../shared/proto/envoy/config/trace/v3/opentelemetry_pb.ts';
import { SkyWalkingConfigSchema } from '../../../shared/proto/envoy/config/trace/v3/skywalking_pb.ts';
import {
  ZipkinConfig_CollectorEndpointVersion as EndpointVersion,
  ZipkinConfigSchema,
} from '../../../shared/proto/envoy/config/trace/v3/zipkin_pb.ts';
import type { HttpConnectionManager_TracingSchema } from '../../../shared/proto/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.ts';
import { DynatraceResourceDetectorConfigSchema } from '../../../shared/proto/envoy/extensions/tracers/opentelemetry/resource_detectors/v3/dynatrace_resource_detector_pb.ts';
import { EnvironmentResourceDetectorConfigSchema } from '../../../shared/proto/envoy/extensions/tracers/opentelemetry/resource_detectors/v3/environment_resource_detector_pb.ts';
import type {
  OpenTelemetryTracer,
  SpanExporter,
  SpanHeader,
  Tracer,
} from '../../istio/telemetry/tracer.ts';
import { type Init, packed, typedConfig } from '../encoding/typed-config.ts';
import { protoDuration } from '../encoding/proto-duration.ts';
import type { ProviderCluster } from '../scope/provider-cluster.ts';

/** The part of a manager's `tracing` that a provider decides. */
type TracerFields = Pick<
  Init<typeof HttpConnectionManager_TracingSchema>,
  'provider' | 'maxPathTagLength' | 'spawnUpstreamSpan'
>;
type OpenTelemetry = Init<typeof OpenTelemetryConfigSchema>;
type GrpcService = Init<typeof GrpcServiceSchema>;

/**
 * Returns the tracer that sends the spans of a proxy to a provider.
 *
 * @param service the name of the proxy's service in the spans; only for Datadog and OpenTelemetry:
 * for other tracers Envoy itself names the service
 */
export function tracerFields(
  tracer: Tracer,
  reached: ProviderCluster,
  service: string,
): TracerFields {
  return {
    ...(tracer.type !== 'skywalking' &&
      tracer.maxTagLength !== undefined && { maxPathTagLength: tracer.maxTagLength }),
    ...(tracer.type === 'skywalking' && { spawnUpstreamSpan: true }),
    provider: providerOf(tracer, reached, service),
  };
}

function providerOf(
  tracer: Tracer,
  reached: ProviderCluster,
  serviceName: string,
): NonNullable<TracerFields['provider']> {
  const { host, cluster } = reached;
  switch (tracer.type) {
    case 'zipkin':
      return typedConfig('envoy.tracers.zipkin', ZipkinConfigSchema, {
        collectorCluster: cluster,
        collectorEndpoint: tracer.path,
        collectorEndpointVersion: EndpointVersion.HTTP_JSON,
        collectorHostname: host,
        traceId128bit: tracer.traceIds === '128-bit',
        sharedSpanContext: false,
      });
    case 'datadog':
      return typedConfig('envoy.tracers.datadog', DatadogConfigSchema, {
        collectorCluster: cluster,
        collectorHostname: host,
        serviceName,
      });
    case 'skywalking':
      return typedConfig('envoy.tracers.skywalking', SkyWalkingConfigSchema, {
        grpcService: grpcService(reached),
      });
    case 'lightstep':
      return openTelemetry({
        grpcService: {
          ...grpcService(reached),
          initialMetadata: [{ key: 'lightstep-access-token', value: tracer.accessToken }],
        },
      });
    case 'open-telemetry':
      return openTelemetry({
        ...exporterOf(tracer.exporter, reached),
        serviceName,
        resourceDetectors: tracer.detectors.map((detector) => detectors[detector]),
      });
  }
}

const openTelemetry = (fields: OpenTelemetry) =>
  typedConfig('envoy.tracers.opentelemetry', OpenTelemetryConfigSchema, fields);

const grpcService = ({ host, cluster }: ProviderCluster): GrpcService => ({
  targetSpecifier: { case: 'envoyGrpc', value: { clusterName: cluster, authority: host } },
});

function exporterOf(
  exporter: SpanExporter,
  reached: ProviderCluster,
): Pick<OpenTelemetry, 'grpcService' | 'httpService'> {
  const { timeoutMs, headers } = exporter;
  if (exporter.type === 'grpc')
    return {
      grpcService: {
        ...grpcService(reached),
        ...(timeoutMs !== undefined && { timeout: protoDuration(timeoutMs) }),
        initialMetadata: headers.map(headerValue),
      },
    };
  return {
    httpService: {
      httpUri: {
        uri: `${reached.host}${exporter.path}`,
        httpUpstreamType: { case: 'cluster', value: reached.cluster },
        timeout: protoDuration(exporter.timeoutMs),
      },
      requestHeadersToAdd: headers.map((header) => ({
        header: headerValue(header),
        appendAction: HeaderAppendAction.OVERWRITE_IF_EXISTS_OR_ADD,
      })),
    },
  };
}

const headerValue = ({ name, value }: SpanHeader) => ({ key: name, value });

const detector = 'envoy.tracers.opentelemetry.resource_detectors';
const detectors = {
  environment: {
    name: `${detector}.environment`,
    typedConfig: packed(EnvironmentResourceDetectorConfigSchema),
  },
  dynatrace: {
    name: `${detector}.dynatrace`,
    typedConfig: packed(DynatraceResourceDetectorConfigSchema),
  },
} as const satisfies Record<OpenTelemetryTracer['detectors'][number], unknown>;
