import { setNewest } from '../../shared/maps/set-newest.ts';
import { type Budget, budgets, mostClients } from '../identity/budgets.ts';

/** The answer to one request of an identity. */
export type RateVerdict =
  | { readonly type: 'passes' }
  /**
   * `unlogged`: the number of requests that were refused since the last line of the log, with this
   * one, if a line is due; otherwise undefined.
   */
  | { readonly type: 'too-many'; readonly unlogged: number | undefined };

/** The refusals of an identity since the last line of the log. */
interface Refusals {
  readonly refused: number;
  readonly loggedAt: number;
}

/** In ms. The time between two lines of the log about one identity. */
const pause = 60_000;

/**
 * Returns a function that counts a request of an identity, and says whether it passes. Each
 * identity has its own budget: one that asks too often costs nobody else a request.
 */
export function identityRates(budget: Budget): (identity: string, now: number) => RateVerdict {
  const left = budgets(budget);
  const refusals = new Map<string, Refusals>(); // the one that was refused last is the last
  return (identity, now) => {
    if (!left.isSpent(identity, now)) {
      left.spend(identity, now);
      return { type: 'passes' };
    }
    const before = refusals.get(identity) ?? { refused: 0, loggedAt: -Infinity };
    const [after, unlogged] = counted(before, now);
    setNewest(refusals, identity, after, mostClients);
    return { type: 'too-many', unlogged };
  };
}

function counted(
  { refused, loggedAt }: Refusals,
  now: number,
): readonly [Refusals, number | undefined] {
  // If the clock has gone back, a line is due.
  const isDue = now < loggedAt || now - loggedAt >= pause;
  return isDue
    ? [{ refused: 0, loggedAt: now }, refused + 1]
    : [{ refused: refused + 1, loggedAt }, undefined];
}
