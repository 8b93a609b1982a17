import * as z from 'zod/mini';
import type { Flag } from './flag.ts';
import { flags } from './flags.ts';
import type { istioFields } from './istio-fields.ts';
import { proxyConfigSchema } from './proxy-config.ts';

/** What the fields are that no flag tells of, or not of the whole, by their paths. */
const descriptions: Readonly<Record<string, string>> = {
  terminationDrainDuration: 'longest drain at the end; $TERMINATION_DRAIN_DURATION_SECONDS wins',
  tracing: 'where traces go: one tracer',
  envoyMetricsService: 'a metrics service that Envoy reports to',
  'envoyMetricsService.address': 'host:port',
  envoyAccessLogService: 'an access-log service that Envoy reports to',
  'tracing.zipkin': 'a Zipkin collector',
  'tracing.lightstep': 'a LightStep satellite',
  'tracing.datadog': 'a Datadog agent',
  'tracing.stackdriver': "Google's Cloud Trace",
  'tracing.stackdriver.debug': 'traces go to stdout too',
  'tracing.stackdriver.maxNumberOfAttributes': 'most attributes of a span',
  'tracing.stackdriver.maxNumberOfAnnotations': 'most annotations of a span',
  'tracing.stackdriver.maxNumberOfMessageEvents': 'most message events of a span',
  'tracing.openTelemetry': 'an OpenTelemetry collector (OTLP over gRPC)',
  'tracing.openCensusAgent': 'a collector; for the control plane alone, as are the next four',
  'tracing.sampling': 'percentage of the requests that are traced, from 0 to 100',
  'tracing.maxPathTagLength': 'longest path in a tag of a span',
  'tracing.enableIstioTags': "whether spans have Istio's own tags",
  'tracing.customTags': 'tags of each span',
  'tracing.tlsSettings': 'TLS to the tracer',
  extraStatTags: 'further tags of the statistics',
  proxyMetadata: 'variables for the metadata of the node; those of the environment win',
};
/** What the fields are that only the control plane reads. */
const ofIstio: Readonly<Record<keyof typeof istioFields.shape, string>> = {
  tracingServiceName: 'how the name of the service is made for traces, in the place of serviceCluster',
  interceptionMode: 'how traffic gets to Envoy',
  statNameLength: 'longest name of a statistic',
  meshId: 'name of the mesh',
  holdApplicationUntilProxyStarts: 'whether the application waits for the proxy',
  image: 'kind of the image of the proxy',
  runtimeValues: 'runtime values of Envoy',
  caCertificatesPem: 'further roots for the mesh',
  gatewayTopology: 'what is in front of a gateway: proxies that are trusted, PROXY protocol',
  proxyStatsMatcher: 'further statistics',
  privateKeyProvider: 'hardware that works with private keys',
  proxyHeaders: 'which headers Envoy sets',
  readinessProbe: 'probe of an application on a machine; values of headers are not told',
  fileFlushInterval: 'longest time until access logs are written to a file',
  fileFlushMinSizeKb: 'size of what is written of access logs at once',
  statsCompression: 'whether statistics are compressed',
  discoveryRefreshDelay: 'deprecated',
  zipkinAddress: 'deprecated',
  envoyMetricsServiceAddress: 'deprecated',
  availabilityZone: 'deprecated',
  sds: 'deprecated',
};
/** The same for the parts of messages that are in several places. */
const parts: Readonly<Record<string, string>> = {
  address: 'host:port',
  tlsSettings: 'TLS to the service',
  tcpKeepalive: 'keep-alive probes on the connection',
  mode: 'DISABLE: no TLS; SIMPLE: the server proves itself; MUTUAL: the client too; ISTIO_MUTUAL: with the certificates of the mesh',
  caCertificates: "file of the CA of the server's certificate",
  clientCertificate: "file of the client's certificate chain",
  privateKey: "file of the client's key",
  sni: 'name of the server for TLS',
  subjectAltNames: "names of which the server's certificate has to have one",
  probes: 'unanswered probes until the connection is dead; 0: the default of the system',
  time: 'idle time before the first probe; 0s: the default of the system',
  interval: 'from one probe to the next; 0s: the default of the system',
};

/**
 * The JSON Schema of a ProxyConfig as PROXY_CONFIG, a mesh file and an annotation take it, made of
 * the schema that checks them. Throws for a field that is not described. Pure.
 */
export function jsonSchema(): object {
  const { $schema, ...schema } = z.toJSONSchema(z.exactPartial(proxyConfigSchema), { io: 'input', reused: 'inline' });
  return { $schema, title: 'ProxyConfig of pilot-agent', ...described(schema) };
}

type Node = Readonly<Record<string, unknown>>;
const alone = new Set([...Object.keys(ofIstio), 'tracing.openCensusAgent', 'tracing.customTags']);
const flagOf = new Map(Object.entries<Flag>(flags).map(([name, flag]) => [flag.field ?? name, flag]));

/** A schema whose fields say what they are, and what they are without a word. */
function described(schema: Node, path = ''): Node {
  if (schema['properties'] === undefined) return schema;
  const fields = Object.entries(schema['properties'] as Readonly<Record<string, Node>>).map(([name, field]) => {
    const below = `${path}${name}`;
    const flag = flagOf.get(below);
    const description = descriptions[below] ?? (ofIstio as typeof descriptions)[below] ?? flag?.text ?? parts[name];
    if (description === undefined) throw new Error(`${below} has no description`);
    const standard =
      flag === undefined || flag.default === '' || path !== ''
        ? {}
        : { default: /^\d+$/.test(flag.default) ? Number(flag.default) : flag.default };
    return [name, { description, ...standard, ...(alone.has(below) ? field : described(field, `${below}.`)) }];
  });
  return { ...schema, properties: Object.fromEntries(fields) };
}
