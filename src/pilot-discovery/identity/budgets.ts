import { setNewest } from '../../shared/maps/set-newest.ts';

/** How often something may happen. */
export interface Budget {
  /** How often at once, after a pause. */
  readonly burst: number;
  /** On average. */
  readonly perSecond: number;
}

/** The budgets of many clients, each with its own count. `now` is in ms. */
export interface Budgets {
  readonly isSpent: (client: string, now: number) => boolean;
  /** Takes one from the budget of a client. It may then be negative. */
  readonly spend: (client: string, now: number) => void;
}

interface Account {
  readonly left: number;
  readonly at: number;
}

/**
 * The most clients that are counted. Another client replaces the one that was asked about least
 * recently, which then has its whole burst again.
 */
export const mostClients = 10_000;
const second = 1_000;

/**
 * Returns the budgets of all clients. A step back of the clock gives a client nothing, and does not
 * make it wait for the former time.
 */
export function budgets({ burst, perSecond }: Budget): Budgets {
  const accounts = new Map<string, Account>(); // the client that was asked about last comes last
  const leftOf = (client: string, now: number): number => {
    const before = accounts.get(client);
    if (before === undefined) return burst;
    const gained = (Math.max(now - before.at, 0) / second) * perSecond;
    const left = Math.min(before.left + gained, burst);
    setNewest(accounts, client, { left, at: now }, mostClients);
    return left;
  };
  return {
    isSpent: (client, now) => leftOf(client, now) < 1,
    spend: (client, now) => {
      setNewest(accounts, client, { left: leftOf(client, now) - 1, at: now }, mostClients);
    },
  };
}
