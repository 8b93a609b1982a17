/** What an Envoy does in one direction: HTTP requests of a time, of all listeners together. */
export interface DirectionReport {
  readonly requests: number;
  /** Those of them that were answered with 5xx. */
  readonly failures: number;
  /** Half of the requests took no longer, and 99 of 100. Absent where no time was measured. */
  readonly p50Ms?: number;
  readonly p99Ms?: number;
}

export interface ClusterReport {
  readonly name: string;
  /** Hosts that may get requests, and all. */
  readonly healthy: number;
  readonly total: number;
}

export interface ListenerReport {
  readonly name: string;
  /** `127.0.0.1:8080`, or the path of a socket. */
  readonly address: string;
  /** Connections that are open. Absent where Envoy does not count them. */
  readonly connections?: number;
}

/** The first ones of a list, and how many there are. */
export interface FirstFew<T> {
  readonly count: number;
  readonly first: readonly T[];
}

/** What the Envoy that serves says of its service, at one moment. */
export type ServiceReport =
  | { readonly at: string; readonly state: 'silent'; readonly reason: string }
  | {
      readonly at: string;
      readonly state: 'answering';
      /** Requests are of so many ms up to now; absent: since the start of Envoy. */
      readonly overMs?: number;
      /** Absent where Envoy keeps no statistics of that direction. */
      readonly inbound?: DirectionReport;
      readonly outbound?: DirectionReport;
      /** Those with hosts that are not healthy first. Absent where Envoy does not count them. */
      readonly clusters?: FirstFew<ClusterReport> & { readonly unhealthy: number };
      readonly listeners: FirstFew<ListenerReport>;
    };
