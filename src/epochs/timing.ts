// Why: docs/decisions/013-no-envoy-for-750-ms.md
/** The durations of the agent's waits and limits. All in ms. */
export interface Timing {
  /**
   * How long a parent may take to be LIVE before the next epoch starts without it. It is the Go
   * agent's figure (1.4–1.6), above Envoy's own limits of 15 s.
   */
  readonly liveTimeout: number;
  /**
   * How long the next epoch waits for an epoch that comes up alone and still waits for its
   * configuration. Then the next epoch replaces that one.
   */
  readonly replaceable: number;
  /**
   * Time between two questions to the admin endpoint of an epoch in its first `quick` ms. Usually
   * it comes up in that time.
   */
  readonly quickPoll: number;
  readonly quick: number;
  /** Time between two questions to the admin endpoint of an epoch that comes up or goes. */
  readonly poll: number;
  /**
   * Time between two questions to the admin endpoint of an epoch that is LIVE. It can be long: an
   * exit is an event, and a probe sends its own question.
   */
  readonly livePoll: number;
  /**
   * How long an epoch that drains is protected from the start of another. After that time it has
   * ended (Envoy's `--parent-shutdown-time-s`).
   */
  readonly parentShutdown: number;
  /**
   * An Envoy asks its parent to end `parentShutdown` after it is LIVE, as the agent sees it. This
   * is how much earlier or later it may do so.
   */
  readonly parentMargin: number;
  /** After this long without an answer an Envoy does not count as ready. */
  readonly unresponsive: number;
  /** After this long without an answer, counted from the last one, an Envoy is killed. */
  readonly hung: number;
  /**
   * The same for a child that comes up: its parent hands over in a tenth of a second (measured,
   * Envoy 1.36.2), or hangs.
   */
  readonly childHung: number;
  /**
   * If no Envoy serves or comes up for this long, a standalone Envoy is started, whatever else is
   * under way.
   */
  readonly unserved: number;
  /** If an Envoy has been LIVE for this long, a crash is no longer part of a crash loop. */
  readonly stable: number;
  readonly drainMinimum: number;
  readonly drainCap: number;
  /**
   * A child's gauges include its parent's with a delay of at most this long (Envoy's stats flush,
   * and a second).
   */
  readonly gaugeLag: number;
  /**
   * How long an epoch that is replaced side by side asks its clients to leave, before its listeners
   * close.
   */
  readonly gracefulDrain: number;
  /** Time from SIGTERM to SIGKILL. */
  readonly killAfter: number;
}

/** The durations that no flag changes. */
export const fixedTiming = {
  liveTimeout: 20_000,
  replaceable: 1_000,
  quickPoll: 20,
  quick: 1_000,
  poll: 500,
  livePoll: 5_000,
  parentMargin: 2_000,
  unresponsive: 2_000,
  hung: 30_000,
  childHung: 10_000,
  unserved: 750,
  stable: 300_000,
  gaugeLag: 6_000,
  gracefulDrain: 1_000,
  killAfter: 1_000,
} as const satisfies Partial<Timing>;
