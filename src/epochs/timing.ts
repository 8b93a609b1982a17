// Why: docs/decisions/013-no-envoy-for-750-ms.md
/** How long things take or may take. All in ms. */
export interface Timing {
  /**
   * How long a parent may take to be LIVE before the next epoch does without it: the Go agent's
   * (1.4–1.6), above Envoy's own limits of 15 s.
   */
  readonly liveTimeout: number;
  /**
   * How long the next epoch waits for one that has no parent and waits for its configuration,
   * before it takes its place.
   */
  readonly replaceable: number;
  /**
   * Between two questions to the admin endpoint of an epoch in its first `quick` ms, in which it
   * comes up as a rule.
   */
  readonly quickPoll: number;
  readonly quick: number;
  /** Between two questions to the admin endpoint of an epoch that comes up or goes. */
  readonly poll: number;
  /**
   * Between two questions to the admin endpoint of an epoch that is LIVE. Its exit is an event, and
   * a probe asks by itself.
   */
  readonly livePoll: number;
  /**
   * How long an epoch that drains is protected from the start of another: after that it is gone by
   * itself (Envoy's `--parent-shutdown-time-s`).
   */
  readonly parentShutdown: number;
  /**
   * So much earlier or later than after `parentShutdown`, from when it was seen LIVE, may an Envoy
   * tell its parent to end.
   */
  readonly parentMargin: number;
  /** Questions of this length without an answer, after which an Envoy does not count as ready. */
  readonly unresponsive: number;
  /** Silence of the admin endpoint after which an Envoy is killed, from its last answer. */
  readonly hung: number;
  /**
   * The same of a child that comes up: its parent hands over in a tenth of a second (measured,
   * Envoy 1.36.2), or hangs.
   */
  readonly childHung: number;
  /**
   * How long nobody serves or comes up before an Envoy of its own is started, whatever else is
   * under way.
   */
  readonly unserved: number;
  /** A run of this length is no crash loop. */
  readonly stable: number;
  readonly drainMinimum: number;
  readonly drainCap: number;
  /**
   * A child's gauges include its parent's as they were at most this long ago (Envoy's stats flush,
   * and a second).
   */
  readonly gaugeLag: number;
  /**
   * How long an epoch that is replaced side by side tells its clients to go, before its listeners
   * close.
   */
  readonly gracefulDrain: number;
  /** From SIGTERM to SIGKILL. */
  readonly killAfter: number;
}

/** The figures that no flag changes. */
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
