import { expect, it } from 'vitest';
import { budgets, mostClients } from '../../../../src/pilot-discovery/identity/budgets.ts';

const budget = { burst: 5, perSecond: 2 };

/** Spends the rest of a budget; returns how much that was. */
function spent({ isSpent, spend }: ReturnType<typeof budgets>, client: string, now: number) {
  let count = 0;
  for (; !isSpent(client, now); count += 1) spend(client, now);
  return count;
}

it('has a burst, and then a number for each second', () => {
  const all = budgets(budget);
  expect([0, 499, 1_000, 3_600_000].map((now) => spent(all, 'a', now))).toEqual([5, 0, 2, 5]);
});

it('counts what is spent beyond the budget', () => {
  const all = budgets(budget);
  for (let count = 0; count < 7; count += 1) all.spend('a', 0);
  expect([spent(all, 'a', 1_000), spent(all, 'a', 2_000)]).toEqual([0, 2]);
});

it('gives nothing for a step back of the clock, and does not wait for its former time', () => {
  const all = budgets(budget);
  expect([600_000, 0, 499, 1_000].map((now) => spent(all, 'a', now))).toEqual([5, 0, 0, 2]);
});

it('keeps a bounded number of clients, and forgets the one asked about least recently', () => {
  const all = budgets(budget);
  expect([spent(all, 'first', 0), spent(all, 'second', 0)]).toEqual([5, 5]);
  expect(all.isSpent('first', 0)).toBe(true);
  for (let number = 2; number < mostClients; number += 1) all.spend(`other ${number}`, 0);
  expect(all.isSpent('first', 0)).toBe(true);
  all.spend('one more', 0);
  expect([all.isSpent('first', 0), all.isSpent('second', 0)]).toEqual([true, false]);
});
