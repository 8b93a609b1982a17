import type { istioFields } from './istio-fields.ts';

/** Descriptions, by path, of the fields that no flag describes, or not as a whole. */
export const descriptions: Readonly<Record<string, string>> = {
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
/** Descriptions of the fields that only the control plane reads. */
export const ofIstio: Readonly<Record<keyof typeof istioFields.shape, string>> = {
  tracingServiceName:
    'how the name of the service is made for traces, in the place of serviceCluster',
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
  readinessProbe:
    'probe of an application on a machine; values of headers are not sent to the control plane',
  fileFlushInterval: 'longest time until access logs are written to a file',
  fileFlushMinSizeKb: 'size of what is written of access logs at once',
  statsCompression: 'whether statistics are compressed',
  discoveryRefreshDelay: 'deprecated',
  zipkinAddress: 'deprecated',
  envoyMetricsServiceAddress: 'deprecated',
  availabilityZone: 'deprecated',
  sds: 'deprecated',
};
/** Descriptions of the parts of messages that occur in several places. */
export const parts: Readonly<Record<string, string>> = {
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
/** Descriptions of the members of a source, for all kinds. */
export const ofSources: Readonly<Record<string, string>> = {
  kind: 'what is read',
  name: 'in the log and in metrics; each source has its own',
  as: "what a reading is for; restart: a reason to start Envoy anew; envoy: it is Envoy's configuration; merge: it is laid over that; runtime: log levels and runtime values; secret: a certificate",
  at: "for merge: the field of Envoy's configuration, such as static_resources.clusters; without it the whole",
  paths: 'files and folders',
  url: 'http or https URL',
  every: 'from one reading to the next; default: 30s',
  timeout: 'longest time of a reading; default: 10s',
  largest: 'most bytes of a document; default: 16777216',
  caFile: 'roots for the server, PEM',
  tokenFile: 'file of the token',
  resource: 'kind of the object: Secret, ConfigMap, or a custom resource with its group',
  namespace: 'namespace of the object',
  object: 'name of the object',
  key: 'the key of a Secret or ConfigMap that counts; without it all data',
  kubeconfig: 'how to reach Kubernetes; without it as --kubeconfig says',
  address: 'URL of Consul; without it as --consulAddress says',
  prefix: 'the keys below this one',
  service: 'the healthy instances of this service',
};
/** Descriptions of the members of a configuration file that are not flags. */
export const ofFile = {
  $schema: 'for editors',
  role: 'sidecar or router; an argument of the command line wins',
  environment: 'variables, for those that the process does not have',
  proxyConfig: 'a ProxyConfig, as PROXY_CONFIG has it; the flags of this file win over it',
  probers: 'the probes of the application by their paths, as ISTIO_KUBE_APP_PROBERS has them',
  sources: 'sources of configuration, beside those of flags',
} as const;
