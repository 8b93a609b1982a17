import type { Target } from './plan.ts';

/** The status of a target during a time. */
interface Period {
  readonly status: number;
  /** The time of its end by `performance.now()`; Infinity while it lasts. */
  readonly end: number;
}

/** The statuses that the edits so far explain, by target. */
export interface Allowed {
  /** Allows this status for a target from now on, because an edit may change it to that. */
  mayBecome(target: Target, status: number): void;
  /** Records that a target has this status. Other statuses end `grace` ms from now. */
  has(target: Target, status: number, grace: number): void;
  /** Whether a status is explained for a request whose connection was opened at `since`. */
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
