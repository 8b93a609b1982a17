import * as z from 'zod/mini';
import { value } from '../../shared/text/value.ts';

/** Returns a message in which each field may be missing. */
function some<T extends z.core.$ZodLooseShape>(fields: T) {
  return z.partial(value.message(fields));
}

const clientCertificate = value.listed(
  'UNDEFINED',
  'SANITIZE',
  'FORWARD_ONLY',
  'APPEND_FORWARD',
  'SANITIZE_SET',
  'ALWAYS_FORWARD_ONLY',
);
const disabled = some({ disabled: value.boolean });
const enabled = some({ enabled: value.boolean });
const keys = some({ pollDelay: value.timeText, fallback: value.boolean });
/** The values may be passwords, which the control plane does not need. */
const headers = z.pipe(
  z.array(some({ name: value.text, value: value.text })),
  z.transform((entries) => entries.map(({ name = '' }) => ({ name }))),
);

/**
 * The fields of a ProxyConfig that only the control plane reads: the rest of Istio's API as of 1.26
 * and 1.30. They are in the JSON of protobuf. istiod serves nothing at all to a proxy if one field
 * has a wrong type, so the agent checks all types.
 */
export const istioFields = some({
  tracingServiceName: value.listed(
    'APP_LABEL_AND_NAMESPACE',
    'CANONICAL_NAME_ONLY',
    'CANONICAL_NAME_AND_NAMESPACE',
  ),
  interceptionMode: value.listed('REDIRECT', 'TPROXY', 'NONE'),
  statNameLength: value.count,
  meshId: value.text,
  holdApplicationUntilProxyStarts: value.boolean,
  image: some({ imageType: value.text }),
  runtimeValues: value.textMap,
  caCertificatesPem: value.texts,
  gatewayTopology: some({
    numTrustedProxies: value.count,
    forwardClientCertDetails: clientCertificate,
    proxyProtocol: some({}),
  }),
  proxyStatsMatcher: some({
    inclusionPrefixes: value.texts,
    inclusionSuffixes: value.texts,
    inclusionRegexps: value.texts,
  }),
  privateKeyProvider: some({ cryptomb: keys, qat: keys }),
  proxyHeaders: some({
    forwardedClientCert: clientCertificate,
    setCurrentClientCertDetails: some({
      subject: value.boolean,
      cert: value.boolean,
      chain: value.boolean,
      dns: value.boolean,
      uri: value.boolean,
    }),
    requestId: disabled,
    server: some({ disabled: value.boolean, value: value.text }),
    attemptCount: disabled,
    envoyDebugHeaders: disabled,
    metadataExchangeHeaders: some({ mode: value.listed('UNDEFINED', 'IN_MESH') }),
    preserveHttp1HeaderCase: value.boolean,
    xForwardedHost: enabled,
    xForwardedPort: enabled,
  }),
  readinessProbe: some({
    initialDelaySeconds: value.count,
    timeoutSeconds: value.count,
    periodSeconds: value.count,
    successThreshold: value.count,
    failureThreshold: value.count,
    httpGet: some({
      path: value.text,
      port: value.count,
      host: value.text,
      scheme: value.text,
      httpHeaders: headers,
    }),
    tcpSocket: some({ host: value.text, port: value.count }),
    exec: some({ command: value.texts }),
    grpc: some({ port: value.count, service: value.text }),
  }),
  fileFlushInterval: value.timeText,
  fileFlushMinSizeKb: value.count,
  statsCompression: value.boolean,
  // Deprecated fields.
  discoveryRefreshDelay: value.timeText,
  zipkinAddress: value.text,
  envoyMetricsServiceAddress: value.text,
  availabilityZone: value.text,
  sds: some({ enabled: value.boolean, k8sSaJwtPath: value.text }),
});

/** A tag: `literal`, `environment` or `header`, each with its texts. */
const customTag = z.record(z.string(), z.record(z.string(), value.text));

/** The fields of `tracing` that only the control plane reads. */
export const istioTracing = {
  sampling: z.optional(value.percent),
  maxPathTagLength: z.optional(value.count),
  enableIstioTags: z.optional(value.boolean),
  customTags: z.optional(z.record(z.string(), customTag)),
};

/** A tracer that this agent does not know. */
export const openCensusAgent = some({
  address: value.text,
  context: z.array(
    value.listed('UNSPECIFIED', 'W3C_TRACE_CONTEXT', 'GRPC_BIN', 'CLOUD_TRACE_CONTEXT', 'B3'),
  ),
});

export type IstioFields = z.output<typeof istioFields>;
export type IstioTracing = z.output<z.ZodMiniObject<typeof istioTracing>>;
