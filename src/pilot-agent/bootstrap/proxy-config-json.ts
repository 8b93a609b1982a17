import { istioFields } from '../config/istio-fields.ts';
import type { ProxyConfig, RemoteService } from '../config/proxy-config.ts';
import { isMap } from '../../shared/text/split-content.ts';
import { type Json, protoDuration } from './proto-json.ts';

/**
 * Returns a ProxyConfig under the names of Istio's API, as JSON, including zero values and the
 * access token. Pure.
 *
 * Leaves out the fields that Istio's API does not have: `connectTimeout`, `dnsRefreshRate`, the
 * OpenTelemetry collector.
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
    envoyAccessLogService:
      config.envoyAccessLogService && serviceFields(config.envoyAccessLogService),
    tracing: tracing && {
      zipkin: tracing.zipkin && { address: tracing.zipkin.address },
      lightstep: tracing.lightstep && {
        address: tracing.lightstep.address,
        accessToken: tracing.lightstep.accessToken,
      },
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

/** The fields that only the control plane reads, exactly as the layers set them. */
function passedOn(config: ProxyConfig): Json {
  const { sampling, maxPathTagLength, enableIstioTags, customTags, openCensusAgent } =
    config.tracing ?? {};
  const names = Object.keys(istioFields.shape) as (keyof typeof istioFields.shape)[];
  const fields = {
    ...Object.fromEntries(names.map((name) => [name, config[name]])),
    tracing: config.tracing && {
      sampling,
      maxPathTagLength,
      enableIstioTags,
      customTags,
      openCensusAgent,
    },
  };
  return overlaid(config.further as Json, fields);
}

/**
 * Merges both. If both have a member, the upper one wins, unless both are objects: they are merged.
 */
function overlaid(lower: Json, upper: Json): Json {
  if (!isMap(lower) || !isMap(upper)) return upper === undefined ? lower : upper;
  const members = Object.entries(upper).map(([name, value]) => [
    name,
    overlaid(Object.hasOwn(lower, name) ? lower[name] : undefined, value),
  ]);
  return { ...lower, ...(Object.fromEntries(members) as Readonly<Record<string, Json>>) };
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

/** The zero values, which the JSON of protobuf leaves out. */
const zeros = new Map<string, Json>([
  ['controlPlaneAuthPolicy', 'NONE'],
  ['mode', 'DISABLE'],
  ['maxNumberOfAttributes', '0'],
  ['maxNumberOfAnnotations', '0'],
  ['maxNumberOfMessageEvents', '0'],
]);

/**
 * Returns the ProxyConfig that the control plane gets, in the JSON of protobuf. Pure.
 *
 * It has the values that the agent uses, and all other fields of the layers. It holds no access
 * token (the Go agent sends it). From `proxyMetadata` it takes only the node metadata, because the
 * rest is environment. Istio's API accepts `serviceCluster` or `tracingServiceName`, but not both.
 */
export function proxyConfigJson(config: ProxyConfig): Json {
  const proxyMetadata = Object.fromEntries(
    Object.entries(config.proxyMetadata).filter(([name]) => /^ISTIO_META(JSON)?_/.test(name)),
  );
  const lightstep = config.tracing?.lightstep && { ...config.tracing.lightstep, accessToken: '' };
  const tracing = config.tracing && { ...config.tracing, lightstep };
  const serviceCluster = config.tracingServiceName === undefined ? config.serviceCluster : '';
  const { proxyMetadata: texts = {}, ...fields } = proxyConfigFields({
    ...config,
    serviceCluster,
    proxyMetadata,
    tracing,
  });
  const used = withoutZeros({
    ...fields,
    ...(Object.keys(proxyMetadata).length > 0 && { proxyMetadata: texts }),
  });
  return overlaid(passedOn(config), used);
}

function withoutZeros(fields: Readonly<Record<string, Json>>): Readonly<Record<string, Json>> {
  const isZero = (name: string, value: Json) =>
    [undefined, '', 0, false, zeros.get(name)].includes(value) ||
    (Array.isArray(value) && value.length === 0);
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([name, value]) => !isZero(name, value))
      .map(([name, value]) => [
        name,
        typeof value === 'object' && !Array.isArray(value) && name !== 'proxyMetadata'
          ? withoutZeros(value as Readonly<Record<string, Json>>)
          : value,
      ]),
  );
}
