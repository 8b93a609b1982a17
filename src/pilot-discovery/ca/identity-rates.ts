import { setNewest } from '../../shared/maps/set-newest.ts';
import { type Budget, budgets, mostClients } from '../identity/budgets.ts';

/** The answer to one request of an identity. */
export type RateVerdict =
  | { readonly type: 'passes' }
  /**
   * `unlogged`: the number of refused requests since the last line of the log, this one included;
   * undefined if no line is due.
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
 * Returns a function that counts a request of an identity, and says whether the request passes.
 * Each identity has its own budget, so an identity that asks too often does not affect others.
 */
export function identityRates(budget: Budget): (identity: string, now: number) => RateVerdict {
  const left = budgets(budget);
  const refusals = new Map<string, Refusals>(); // the identity that was refused last comes last
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
