import * as z from 'zod/mini';
import { flags } from './flags.ts';
import {
  type IstioFields,
  istioFields,
  type IstioTracing,
  istioTracing,
  openCensusAgent,
} from './istio-fields.ts';
import { isMap } from '../../shared/text/split-content.ts';
import { value } from '../../shared/text/value.ts';

/**
 * The security of a connection, as in Istio's `ClientTLSSettings`. An empty text counts as not set.
 */
export interface TlsSettings {
  readonly mode: 'DISABLE' | 'SIMPLE' | 'MUTUAL' | 'ISTIO_MUTUAL';
  readonly caCertificates: string;
  readonly clientCertificate: string;
  readonly privateKey: string;
  readonly sni: string;
  readonly subjectAltNames: readonly string[];
}

/** A service that Envoy reports to. */
export interface RemoteService {
  /** `host:port`; empty for none. */
  readonly address: string;
  readonly tlsSettings: TlsSettings | undefined;
  /** Times in ms; 0 leaves a value out. */
  readonly tcpKeepalive:
    { readonly probes: number; readonly time: number; readonly interval: number } | undefined;
}

/** The destination of traces: at most one of the tracers. */
export interface Tracing extends IstioTracing {
  readonly zipkin: { readonly address: string } | undefined;
  readonly lightstep:
    | {
        readonly address: string;
        readonly accessToken: string;
        readonly secure: boolean;
        readonly cacertPath: string;
      }
    | undefined;
  readonly datadog: { readonly address: string } | undefined;
  readonly stackdriver:
    | {
        readonly debug: boolean;
        readonly maxNumberOfAttributes: number;
        readonly maxNumberOfAnnotations: number;
        readonly maxNumberOfMessageEvents: number;
      }
    | undefined;
  /** An OTLP collector (gRPC), which only this agent has. */
  readonly openTelemetry: { readonly address: string } | undefined;
  /** Only for the control plane. */
  readonly openCensusAgent?: z.output<typeof openCensusAgent> | undefined;
  readonly tlsSettings: TlsSettings | undefined;
}

/**
 * Istio's ProxyConfig after all layers. Addresses are `host:port`; durations in ms; an empty text
 * counts as not set.
 */
export interface ProxyConfig extends IstioFields {
  readonly configPath: string;
  /** Undefined: the agent searches for Envoy. */
  readonly binaryPath: string | undefined;
  readonly serviceCluster: string;
  readonly drainDuration: number;
  readonly parentShutdownDuration: number;
  readonly terminationDrainDuration: number;
  readonly discoveryAddress: string;
  readonly proxyAdminPort: number;
  /** 0 = no status server. */
  readonly statusPort: number;
  readonly controlPlaneAuthPolicy: 'NONE' | 'MUTUAL_TLS';
  /** 0 = one worker for each core. Undefined: by the CPU limit. */
  readonly concurrency: number | undefined;
  readonly connectTimeout: number;
  readonly dnsRefreshRate: number;
  readonly customConfigFile: string;
  /** A bootstrap template; also `--templateFile`. */
  readonly proxyBootstrapTemplatePath: string;
  readonly statsdUdpAddress: string;
  readonly envoyMetricsService: RemoteService | undefined;
  readonly envoyAccessLogService: RemoteService | undefined;
  readonly tracing: Tracing | undefined;
  readonly extraStatTags: readonly string[];
  readonly proxyMetadata: Readonly<Record<string, string>>;
  /** Fields that no schema here knows, as JSON without secrets: the control plane gets them. */
  readonly further: Readonly<Record<string, unknown>>;
}

const optionalText = z._default(value.text, '');

const tlsSettings = value
  .message({
    mode: z._default(value.listed('DISABLE', 'SIMPLE', 'MUTUAL', 'ISTIO_MUTUAL'), 'DISABLE'),
    caCertificates: optionalText,
    clientCertificate: optionalText,
    privateKey: optionalText,
    sni: optionalText,
    subjectAltNames: z._default(value.texts, []),
  })
  .check(
    z.superRefine(
      (given, context) => {
        if (given.mode !== 'MUTUAL') return;
        // The Go agent goes on in plaintext.
        for (const name of ['clientCertificate', 'privateKey'] as const) {
          if (given[name] === '')
            context.addIssue({
              code: 'custom',
              path: [name],
              message: 'is missing: mode MUTUAL needs it',
            });
        }
      },
      { when: ({ value: given }) => isMap(given) },
    ),
  );

const remoteService = z.pipe(
  value.message({
    address: z._default(value.optionalAddress, ''),
    tlsSettings: z.optional(tlsSettings),
    tcpKeepalive: z.optional(
      value.message({
        probes: z._default(value.count, 0),
        time: z._default(value.duration, 0),
        interval: z._default(value.duration, 0),
      }),
    ),
  }),
  z.transform((given) => ({ tlsSettings: undefined, tcpKeepalive: undefined, ...given })),
);

const limit = z._default(value.count, 200);
const tracers = {
  zipkin: z.optional(value.message({ address: value.address })),
  lightstep: z.optional(
    value.message({
      address: value.address,
      accessToken: value.secret,
      secure: z._default(value.boolean, false),
      cacertPath: optionalText,
    }),
  ),
  datadog: z.optional(value.message({ address: value.hostAddress })),
  stackdriver: z.optional(
    value.message({
      debug: z._default(value.boolean, false),
      maxNumberOfAttributes: limit,
      maxNumberOfAnnotations: limit,
      maxNumberOfMessageEvents: limit,
    }),
  ),
  openTelemetry: z.optional(value.message({ address: value.address })),
  openCensusAgent: z.optional(openCensusAgent),
};

const tracing = z.pipe(
  value.message({ ...tracers, ...istioTracing, tlsSettings: z.optional(tlsSettings) }).check(
    z.superRefine(
      (given, context) => {
        const named = Object.keys(tracers).filter((name) => Object.hasOwn(given, name));
        if (named.length > 1)
          context.addIssue({
            code: 'custom',
            message: `names ${named.join(' and ')}: it has to be one tracer`,
          });
      },
      { when: ({ value: given }) => isMap(given) },
    ),
  ),
  z.transform((given) => ({
    zipkin: undefined,
    lightstep: undefined,
    datadog: undefined,
    stackdriver: undefined,
    openTelemetry: undefined,
    tlsSettings: undefined,
    ...given,
  })),
);

/**
 * The schema of Istio's ProxyConfig in proto JSON, including all fields with a default. A layer
 * contains a part of it.
 */
export const proxyConfigSchema = value.message({
  configPath: value.name,
  binaryPath: z.exactOptional(value.name),
  serviceCluster: value.name,
  drainDuration: value.durationDown,
  parentShutdownDuration: value.durationUp, // a parent that ends early cuts off the connections that still drain
  terminationDrainDuration: value.duration,
  discoveryAddress: value.address,
  proxyAdminPort: value.port,
  statusPort: value.optionalPort,
  controlPlaneAuthPolicy: value.listed(...flags.controlPlaneAuthPolicy.choices),
  concurrency: z.exactOptional(value.count),
  connectTimeout: value.connectTimeout,
  dnsRefreshRate: value.refreshRate,
  customConfigFile: value.text,
  proxyBootstrapTemplatePath: value.text,
  statsdUdpAddress: value.optionalAddress,
  envoyMetricsService: z.exactOptional(remoteService),
  envoyAccessLogService: z.exactOptional(remoteService),
  tracing: z.exactOptional(tracing),
  extraStatTags: value.texts,
  proxyMetadata: value.textMap,
  ...istioFields.shape,
});

/**
 * Returns whether a proxy can serve without a field. If an injected text has a wrong value for such
 * a field, the value is left out with a warning. The address and trust of the control plane,
 * folders, ports and times are not such fields. Pure.
 */
export function isOptional(field: string): boolean {
  return optionalFields.has(field);
}

/**
 * Returns whether the rest of an optional field is useful without this member, `field.member`. No
 * member that secures a connection is optional. Pure.
 */
export function isOptionalMember(path: string): boolean {
  return (
    path === 'envoyMetricsService.tcpKeepalive' || path === 'envoyAccessLogService.tcpKeepalive'
  );
}

/**
 * Returns whether a path in a ProxyConfig secures a connection. Without such a field the connection
 * might be less secure than intended. Pure.
 */
export function isSecuring(path: string): boolean {
  return path.split('.').includes('tlsSettings');
}

const optionalFields: ReadonlySet<string> = new Set([
  'tracing',
  'statsdUdpAddress',
  'envoyMetricsService',
  'envoyAccessLogService',
  'extraStatTags',
  ...Object.keys(istioFields.shape),
]);
