import type { Json } from './json.ts';
import { typedConfig } from './typed-config.ts';

/** Envoy's OpenTelemetry tracer: OTLP over gRPC. Pure. */
export function openTelemetry(service: string, collector: Json, resourceDetectors?: Json): Json {
  const fields = { grpc_service: collector, service_name: service, resource_detectors: resourceDetectors };
  return { name: 'envoy.tracers.opentelemetry', typed_config: typedConfig('config.trace.v3.OpenTelemetryConfig', fields) };
}
