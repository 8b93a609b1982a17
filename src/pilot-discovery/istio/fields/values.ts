export type Labels = Readonly<Record<string, string>>;

/** The namespaces that see a resource; empty for all (`*`). */
export type ExportTo = readonly string[];

/** `spec.workloadSelector.labels`, or `selector.matchLabels`; undefined if it selects all. */
export type Selector = Labels | undefined;

export type StringMatch =
  | { readonly type: 'exact'; readonly value: string }
  | { readonly type: 'prefix'; readonly value: string }
  | { readonly type: 'regex'; readonly value: string };

/** Protocols of ports, from `protocol`, else from the port's name, as in Istio. */
export type Protocol =
  | 'http'
  | 'http2'
  | 'grpc'
  | 'grpc-web'
  | 'https'
  | 'tls'
  | 'tcp'
  | 'mongo'
  | 'redis'
  | 'mysql'
  | 'udp'
  | 'auto';
