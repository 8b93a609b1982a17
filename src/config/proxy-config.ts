/** How a connection is secured, by Istio's `ClientTLSSettings`. An empty text is one that is not given. */
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
  /** Times in ms; 0 leaves one out. */
  readonly tcpKeepalive: { readonly probes: number; readonly time: number; readonly interval: number } | undefined;
}

/** Where traces go. One of the tracers at most. */
export interface Tracing {
  readonly zipkin: { readonly address: string } | undefined;
  readonly lightstep:
    { readonly address: string; readonly accessToken: string; readonly secure: boolean; readonly cacertPath: string } | undefined;
  readonly datadog: { readonly address: string } | undefined;
  readonly stackdriver:
    | {
        readonly debug: boolean;
        readonly maxNumberOfAttributes: number;
        readonly maxNumberOfAnnotations: number;
        readonly maxNumberOfMessageEvents: number;
      }
    | undefined;
  /** An OTLP collector (gRPC): this agent's own. */
  readonly openTelemetry: { readonly address: string } | undefined;
  readonly tlsSettings: TlsSettings | undefined;
}

/** Istio's ProxyConfig after all layers. Addresses are `host:port`; durations in ms; an empty text is one that is not given. */
export interface ProxyConfig {
  readonly configPath: string;
  /** Undefined: looked for. */
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
  /** 0 = one worker for each core. */
  readonly concurrency: number;
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
}
