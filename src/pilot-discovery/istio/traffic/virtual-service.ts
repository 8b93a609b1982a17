import type { ExportTo, Labels, StringMatch } from '../fields/values.ts';

/** https://istio.io/v1.26/docs/reference/config/networking/virtual-service/ */
export interface VirtualService {
  readonly hosts: readonly string[];
  /** `mesh` if none are named. */
  readonly gateways: readonly string[];
  readonly http: readonly HttpRoute[];
  /** Routes for TLS that is passed on, by the name that the client requests. */
  readonly tls: readonly TlsRoute[];
  readonly tcp: readonly TcpRoute[];
  readonly exportTo: ExportTo;
}

export interface HttpRoute {
  readonly name: string;
  /** One must match; empty for each request. */
  readonly match: readonly HttpMatch[];
  readonly route: readonly HttpDestination[];
  readonly redirect: Redirect | undefined;
  readonly directResponse:
    | {
        readonly status: number;
        readonly body: { readonly text: string } | { readonly bytes: string } | undefined;
      }
    | undefined;
  readonly delegate: { readonly name: string; readonly namespace: string } | undefined;
  readonly rewrite: Rewrite | undefined;
  /** In ms; undefined if it is not given, 0 for none. */
  readonly timeoutMs: number | undefined;
  readonly retries: Retries | undefined;
  readonly fault: Fault | undefined;
  readonly mirrors: readonly Mirror[];
  readonly corsPolicy: CorsPolicy | undefined;
  readonly headers: Headers;
}

export interface HttpMatch {
  readonly name: string;
  readonly uri: StringMatch | undefined;
  readonly ignoreUriCase: boolean;
  readonly scheme: StringMatch | undefined;
  readonly method: StringMatch | undefined;
  readonly authority: StringMatch | undefined;
  /** `undefined` for a header that only has to be present. */
  readonly headers: Readonly<Record<string, StringMatch | undefined>>;
  readonly withoutHeaders: Readonly<Record<string, StringMatch | undefined>>;
  readonly queryParams: Readonly<Record<string, StringMatch | undefined>>;
  /** 0 for any. */
  readonly port: number;
  readonly sourceLabels: Labels;
  readonly sourceNamespace: string;
  /** The gateways that replace those of the resource; empty if none do. */
  readonly gateways: readonly string[];
  readonly statPrefix: string;
}

export interface Destination {
  readonly host: string;
  /** '' for none. */
  readonly subset: string;
  /** 0 if it is not given. */
  readonly port: number;
}

/** The conditions for a connection. Gateways evaluate only `port` and `gateways`. */
export interface ConnectionMatch {
  /** 0 for any. */
  readonly port: number;
  /** The gateways that replace those of the resource; empty if none do. */
  readonly gateways: readonly string[];
  /** The original destinations, any of these addresses and ranges; empty for all. */
  readonly destinationSubnets: readonly string[];
  readonly sourceLabels: Labels;
  /** '' for any. */
  readonly sourceNamespace: string;
}

export interface TlsMatch extends ConnectionMatch {
  /** One must match. They may begin with `*`. */
  readonly sniHosts: readonly string[];
}

export interface TcpRoute {
  /** One must match; empty for each connection. */
  readonly match: readonly ConnectionMatch[];
  readonly route: readonly ConnectionDestination[];
}

export interface TlsRoute extends TcpRoute {
  readonly match: readonly TlsMatch[];
}

export interface ConnectionDestination {
  readonly destination: Destination;
  readonly weight: number;
}

export interface HttpDestination {
  readonly destination: Destination;
  readonly weight: number;
  readonly headers: Headers;
}

export interface HeaderOperations {
  readonly set: Labels;
  readonly add: Labels;
  readonly remove: readonly string[];
}

export interface Headers {
  readonly request: HeaderOperations;
  readonly response: HeaderOperations;
}

export interface Redirect {
  /** Replaces the whole path. */
  readonly uri: string;
  /** Replaces the prefix that the match names; undefined if it is not given. */
  readonly prefixRewrite: string | undefined;
  readonly authority: string;
  readonly scheme: string;
  /** Undefined if it is not given. */
  readonly port: number | 'from-protocol-default' | 'from-request-port' | undefined;
  /** 301 if it is not given. */
  readonly redirectCode: number;
}

export interface Rewrite {
  readonly uri: string;
  readonly authority: string;
  readonly uriRegex: { readonly match: string; readonly rewrite: string } | undefined;
}

export interface Retries {
  readonly attempts: number;
  readonly perTryTimeoutMs: number | undefined;
  readonly backoffMs: number | undefined;
  readonly retryOn: string;
  readonly retryRemoteLocalities: boolean | undefined;
  readonly retryIgnorePreviousHosts: boolean | undefined;
}

export interface Fault {
  /** Without a percentage it affects no request. */
  readonly delay:
    { readonly fixedDelayMs: number; readonly percentage: number | undefined } | undefined;
  readonly abort:
    | {
        readonly status: { readonly http: number } | { readonly grpc: number };
        readonly percentage: number | undefined;
      }
    | undefined;
}

export interface Mirror {
  readonly destination: Destination;
  /** 0 to 100. */
  readonly percentage: number;
}

export interface CorsPolicy {
  readonly allowOrigins: readonly StringMatch[];
  readonly allowMethods: readonly string[];
  readonly allowHeaders: readonly string[];
  readonly exposeHeaders: readonly string[];
  readonly maxAgeMs: number | undefined;
  readonly allowCredentials: boolean | undefined;
  readonly unmatchedPreflights: 'unspecified' | 'forward' | 'ignore';
}
