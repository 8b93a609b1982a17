/** Envoy's traffic in one direction: HTTP requests over a time, for all listeners together. */
export interface DirectionReport {
  readonly requests: number;
  /** The requests that were answered with 5xx. */
  readonly failures: number;
  /** The median and the 99th percentile of the request times. Absent if no time was measured. */
  readonly p50Ms?: number;
  readonly p99Ms?: number;
}

export interface ClusterReport {
  readonly name: string;
  /** Hosts that may get requests, and all hosts. */
  readonly healthy: number;
  readonly total: number;
}

export interface ListenerReport {
  readonly name: string;
  /** `127.0.0.1:8080`, or the path of a socket. */
  readonly address: string;
  /** Open connections. Absent if Envoy does not count them. */
  readonly connections?: number;
}

/** The first items of a list, and the number of all. */
export interface FirstFew<T> {
  readonly count: number;
  readonly first: readonly T[];
}

/** The service of the Envoy that serves, at one moment. */
export type ServiceReport =
  | { readonly at: string; readonly state: 'silent'; readonly reason: string }
  | {
      readonly at: string;
      readonly state: 'answering';
      /** The time that the requests cover, in ms up to now; absent: since the start of Envoy. */
      readonly overMs?: number;
      /** Absent if Envoy keeps no statistics of that direction. */
      readonly inbound?: DirectionReport;
      readonly outbound?: DirectionReport;
      /** Clusters with unhealthy hosts come first. Absent if Envoy does not count them. */
      readonly clusters?: FirstFew<ClusterReport> & { readonly unhealthy: number };
      readonly listeners: FirstFew<ListenerReport>;
    };
