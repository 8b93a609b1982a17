import type { BootstrapInputs } from './bootstrap-inputs.ts';
import { googleProject } from './google-project.ts';
import type { Json } from './json.ts';
import { openTelemetry } from './open-telemetry.ts';
import { typedConfig } from './typed-config.ts';

/** Takes OTLP for Google Cloud. */
const target = 'telemetry.googleapis.com:443';

/**
 * A tracer that sends to Google Cloud, over Envoy's own Google gRPC client. Pure.
 *
 * It proves who it is by the tokens of the exchange on `stsPort`, or, without one, by what the machine offers to every program of Google.
 */
export function googleTracer({ config, metadata, stsPort }: BootstrapInputs): Json {
  const exchange = {
    token_exchange_service_uri: `http://localhost:${stsPort}/token`,
    subject_token_path: '/var/run/secrets/tokens/istio-token',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    scope: 'https://www.googleapis.com/auth/cloud-platform',
  };
  const credentials =
    stsPort > 0
      ? { channel_credentials: { ssl_credentials: {} }, call_credentials: [{ sts_service: exchange }] }
      : { channel_credentials: { google_default: {} } };
  const project = googleProject(metadata);
  const collector = {
    google_grpc: { target_uri: target, stat_prefix: 'stackdriver', ...credentials },
    initial_metadata: project === undefined ? undefined : [{ key: 'x-goog-user-project', value: project }],
  };
  const detector = 'tracers.opentelemetry.resource_detectors';
  const attributes = { 'gcp.project_id': project };
  return openTelemetry(
    config.serviceCluster,
    collector,
    project === undefined
      ? undefined
      : [{ name: `envoy.${detector}.static_config`, typed_config: typedConfig(`extensions.${detector}.v3.StaticConfigResourceDetectorConfig`, { attributes }) }], // prettier-ignore
  );
}
