import type { ExportTo, Labels, Selector } from '../fields/values.ts';

/** https://istio.io/v1.26/docs/reference/config/networking/destination-rule/ */
export interface DestinationRule {
  readonly host: string;
  readonly trafficPolicy: TrafficPolicy | undefined;
  readonly subsets: readonly Subset[];
  readonly exportTo: ExportTo;
  readonly workloadSelector: Selector;
}

export interface Subset {
  readonly name: string;
  readonly labels: Labels;
  readonly trafficPolicy: TrafficPolicy | undefined;
}

/** A setting that is not given is undefined. */
export interface PortPolicy {
  readonly loadBalancer: LoadBalancer | undefined;
  readonly connectionPool: ConnectionPool | undefined;
  readonly outlierDetection: OutlierDetection | undefined;
  readonly tls: ClientTls | undefined;
}

export interface TrafficPolicy extends PortPolicy {
  /** Undefined if connections of TCP are not tunnelled. */
  readonly tunnel: Tunnel | undefined;
  /** The version of the PROXY protocol that begins each connection; undefined for none. */
  readonly proxyProtocol: ProxyProtocol | undefined;
  /** Undefined if no share of the requests limits the number of retries. */
  readonly retryBudget: RetryBudget | undefined;
  /** By the number of the port. */
  readonly portLevelSettings: ReadonlyMap<number, PortPolicy>;
}

/** How the address of the client is written at the beginning of a connection. */
export type ProxyProtocol = 'V1' | 'V2';

/** How many requests may be retries: a share of the active and pending ones, or a number. */
export interface RetryBudget {
  readonly percent: number;
  /** This number of retries is always allowed. */
  readonly least: number;
}

/** The destination is an HTTP proxy that is asked for a connection to another address. */
export interface Tunnel {
  readonly method: 'CONNECT' | 'POST';
  readonly targetHost: string;
  readonly targetPort: number;
}

export interface LoadBalancer {
  readonly policy:
    | { readonly type: 'unspecified' | 'least-request' | 'round-robin' | 'random' | 'passthrough' }
    | {
        readonly type: 'consistent-hash';
        readonly key: HashKey;
        readonly ring:
          | { readonly type: 'ring-hash'; readonly minimumRingSize: number }
          | { readonly type: 'maglev'; readonly tableSize: number };
      };
  readonly locality: LocalitySettings | undefined;
  readonly zones: ZoneSettings | undefined;
  readonly warmup:
    | {
        readonly durationMs: number;
        readonly minimumPercent: number | undefined;
        readonly aggression: number | undefined;
      }
    | undefined;
}

export type HashKey =
  | { readonly type: 'header'; readonly name: string }
  | {
      readonly type: 'cookie';
      readonly name: string;
      readonly path: string;
      readonly ttlMs: number | undefined;
    }
  | { readonly type: 'source-ip' }
  | { readonly type: 'query-parameter'; readonly name: string };

export interface LocalitySettings {
  readonly enabled: boolean | undefined;
  readonly distribute: readonly {
    readonly from: string;
    readonly to: Readonly<Record<string, number>>;
  }[];
  readonly failover: readonly Failover[];
  readonly failoverPriority: readonly string[];
}

/** The region that takes the requests of another one whose endpoints fail. */
export interface Failover {
  readonly from: string;
  readonly to: string;
}

/** Whether Envoy prefers the endpoints of its own zone, by the number of callers in each zone. */
export type ZoneSettings =
  | { readonly preference: 'none' }
  | {
      readonly preference: 'own-zone';
      /** With fewer endpoints in its region, Envoy prefers no zone. */
      readonly minClusterSize: number;
      readonly failover: readonly Failover[];
      readonly failoverPriority: readonly string[];
    };

export interface ConnectionPool {
  readonly tcp: {
    readonly maxConnections: number | undefined;
    readonly connectTimeoutMs: number | undefined;
    readonly tcpKeepalive:
      | {
          readonly probes: number | undefined;
          readonly timeMs: number | undefined;
          readonly intervalMs: number | undefined;
        }
      | undefined;
    readonly maxConnectionDurationMs: number | undefined;
    readonly idleTimeoutMs: number | undefined;
  };
  readonly http: {
    readonly http1MaxPendingRequests: number | undefined;
    readonly http2MaxRequests: number | undefined;
    readonly maxRequestsPerConnection: number | undefined;
    readonly maxRetries: number | undefined;
    readonly idleTimeoutMs: number | undefined;
    readonly h2UpgradePolicy: 'default' | 'upgrade' | 'do-not-upgrade';
    readonly useClientProtocol: boolean;
    readonly maxConcurrentStreams: number | undefined;
    /** PING frames on connections of HTTP/2, in ms; undefined for none. */
    readonly http2KeepAlive: Http2KeepAlive | undefined;
  };
}

/** A connection is closed if a PING frame has no answer within `timeoutMs`. */
export interface Http2KeepAlive {
  readonly intervalMs: number;
  readonly timeoutMs: number;
}

export interface OutlierDetection {
  readonly consecutive5xxErrors: number | undefined;
  readonly consecutiveGatewayErrors: number | undefined;
  readonly splitExternalLocalOriginErrors: boolean;
  readonly consecutiveLocalOriginFailures: number | undefined;
  readonly intervalMs: number | undefined;
  readonly baseEjectionTimeMs: number | undefined;
  readonly maxEjectionPercent: number | undefined;
  readonly minHealthPercent: number | undefined;
}

export interface ClientTls {
  /** `closed`: the setting is wrong and was never valid, so nothing is sent. */
  readonly mode: 'disable' | 'simple' | 'mutual' | 'istio-mutual' | 'closed';
  readonly clientCertificate: string;
  readonly privateKey: string;
  readonly caCertificates: string;
  readonly caCrl: string;
  readonly credentialName: string;
  readonly subjectAltNames: readonly string[];
  readonly sni: string;
  readonly insecureSkipVerify: boolean;
}
