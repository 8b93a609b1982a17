import { seeded } from './seeded.ts';

/** The weight of each kind of event: how often it comes in relation to the others. */
const weights = {
  /** A new pair, written by renames. */
  good: 8,
  'does not parse': 2,
  'does not match': 2,
  'has expired': 1,
  /** SIGKILL for the newest Envoy, or the oldest. */
  'kill newest': 2,
  'kill oldest': 2,
  /** A new pair, and SIGKILL for the child that it starts, `ms` after the child is seen. */
  'kill at birth': 3,
  /** A new pair, and SIGKILL for the parent, `ms` after its child is LIVE. */
  'kill parent': 2,
  /** A new pair, and SIGKILL for the Envoy that checks it, once or twice. */
  'kill check': 2,
  /** SIGSTOP for the newest Envoy, and SIGCONT after `ms`. */
  'stop newest': 2,
  'slow admin': 1,
  'hanging admin': 1,
  'full disk': 1,
  /** A new pair while the agent is stopped, and more events than the kernel keeps for it. */
  'lost events': 1,
  SIGHUP: 2,
  SIGUSR1: 1,
  /** SIGSTOP for the agent, and SIGCONT after `ms`. */
  'stop agent': 1,
  /** SIGTERM for the agent, and then a new agent. */
  'end agent': 1,
  /** SIGKILL for the agent, and then a new agent. */
  'kill agent': 1,
} as const;

export type ChaosKind = keyof typeof weights;

export interface ChaosEvent {
  readonly kind: ChaosKind;
  /**
   * In ms: how long the event takes, or the time after which it happens. `kill check` kills once
   * more for each full second.
   */
  readonly ms: number;
  /** The time from its end to the next event. In ms. */
  readonly pause: number;
}

const longest: Partial<Record<ChaosKind, number>> = {
  'kill at birth': 200,
  'kill parent': 2_500,
  'kill check': 2_000,
  'stop newest': 4_000,
  'slow admin': 4_000,
  'hanging admin': 4_000,
  'full disk': 3_000,
  'stop agent': 1_000,
};

/** Yields events without an end, the same ones for the same seed, without the first `skipped`. */
export function* plan(seed: number, skipped = 0): Generator<ChaosEvent, never> {
  const random = seeded(seed);
  const kinds = Object.entries(weights).flatMap(([kind, weight]) =>
    Array.from({ length: weight }, () => kind as ChaosKind),
  );
  for (let index = 0; ; index++) {
    const kind = kinds[Math.floor(random() * kinds.length)] ?? 'good';
    const event = {
      kind,
      ms: Math.round(random() * (longest[kind] ?? 0)),
      pause: Math.round(2_500 * random() ** 2),
    };
    if (index >= skipped) yield event;
  }
}
