import type { Target } from './plan.ts';

/** The status of a target during a time. */
interface Period {
  readonly status: number;
  /** By `performance.now()`; Infinity while it lasts. */
  readonly end: number;
}

/** The statuses that the edits so far explain, by target. */
export interface Allowed {
  /** An edit may now change a target to this status. */
  mayBecome(target: Target, status: number): void;
  /** A target has this status; others end so many ms from now. */
  has(target: Target, status: number, grace: number): void;
  /** Whether a status is explained for a request whose connection was opened at a moment. */
  explains(target: Target, status: number, since: number): boolean;
}

export function allowed(first: ReadonlyMap<Target, number>, now: () => number): Allowed {
  const periods = new Map<Target, readonly Period[]>(
    [...first].map(([target, status]) => [target, [{ status, end: Infinity }]]),
  );
  const periodsOf = (target: Target) => periods.get(target) ?? [];
  return {
    mayBecome(target, status) {
      periods.set(target, [...periodsOf(target), { status, end: Infinity }]);
    },
    has(target, status, grace) {
      const ended = periodsOf(target)
        .filter(({ status: before, end }) => before !== status || end !== Infinity)
        .map(({ status: before, end }) => ({ status: before, end: Math.min(end, now() + grace) }));
      periods.set(target, [...ended, { status, end: Infinity }]);
    },
    explains: (target, status, since) =>
      periodsOf(target).some((period) => period.status === status && period.end >= since),
  };
}
