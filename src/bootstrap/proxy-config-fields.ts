import type { ProxyConfig, RemoteService } from '../config/proxy-config.ts';
import type { Json } from './json.ts';
import { protoDuration } from './proto-duration.ts';

/**
 * A ProxyConfig under the names of Istio's API, as its JSON has them: with what is zero, and with the access token. Pure.
 *
 * What Istio's API does not have is not there: `connectTimeout`, `dnsRefreshRate`, the OpenTelemetry collector.
 */
export function proxyConfigFields(config: ProxyConfig): Readonly<Record<string, Json>> {
  const { tracing } = config;
  const limits = tracing?.stackdriver;
  return {
    configPath: config.configPath,
    binaryPath: config.binaryPath,
    serviceCluster: config.serviceCluster,
    drainDuration: protoDuration(config.drainDuration),
    parentShutdownDuration: protoDuration(config.parentShutdownDuration),
    terminationDrainDuration: protoDuration(config.terminationDrainDuration),
    discoveryAddress: config.discoveryAddress,
    proxyAdminPort: config.proxyAdminPort,
    statusPort: config.statusPort,
    controlPlaneAuthPolicy: config.controlPlaneAuthPolicy,
    concurrency: config.concurrency,
    customConfigFile: config.customConfigFile,
    proxyBootstrapTemplatePath: config.proxyBootstrapTemplatePath,
    statsdUdpAddress: config.statsdUdpAddress,
    envoyMetricsService: config.envoyMetricsService && serviceFields(config.envoyMetricsService),
    envoyAccessLogService: config.envoyAccessLogService && serviceFields(config.envoyAccessLogService),
    tracing: tracing && {
      zipkin: tracing.zipkin && { address: tracing.zipkin.address },
      lightstep: tracing.lightstep && { address: tracing.lightstep.address, accessToken: tracing.lightstep.accessToken },
      datadog: tracing.datadog && { address: tracing.datadog.address },
      stackdriver: limits && {
        debug: limits.debug,
        maxNumberOfAttributes: String(limits.maxNumberOfAttributes),
        maxNumberOfAnnotations: String(limits.maxNumberOfAnnotations),
        maxNumberOfMessageEvents: String(limits.maxNumberOfMessageEvents),
      },
      tlsSettings: tracing.tlsSettings && { ...tracing.tlsSettings },
    },
    extraStatTags: config.extraStatTags,
    proxyMetadata: config.proxyMetadata,
  };
}

function serviceFields({ address, tlsSettings, tcpKeepalive: keepalive }: RemoteService): Json {
  return {
    address,
    tlsSettings: tlsSettings && { ...tlsSettings },
    tcpKeepalive: keepalive && {
      probes: keepalive.probes,
      time: protoDuration(keepalive.time),
      interval: protoDuration(keepalive.interval),
    },
  };
}
