import { setNewest } from '../../shared/maps/set-newest.ts';

/** The failures that a client may have. */
export interface FailureBudget {
  /** At once, after a pause. */
  readonly burst: number;
  readonly perSecond: number;
}

/** Counts failures by client. */
export interface FailureBudgets {
  readonly isSpent: (client: string, now: number) => boolean;
  readonly fail: (client: string, now: number) => void;
}

interface Account {
  readonly failures: number;
  readonly since: number;
}

/** The number of clients that are remembered: those that failed last. */
export const mostClients = 10_000;
const second = 1_000;

/** Returns the budgets of all clients. `now` is in ms. */
export function failureBudgets({ burst, perSecond }: FailureBudget): FailureBudgets {
  const accounts = new Map<string, Account>(); // the client that failed last is the last
  const failuresOf = (client: string, now: number): number => {
    const { failures, since } = accounts.get(client) ?? { failures: 0, since: now };
    return Math.max(failures - (Math.max(now - since, 0) / second) * perSecond, 0);
  };
  return {
    isSpent: (client, now) => failuresOf(client, now) > burst - 1,
    fail: (client, now) => {
      const failures = failuresOf(client, now) + 1;
      setNewest(accounts, client, { failures, since: now }, mostClients);
    },
  };
}
