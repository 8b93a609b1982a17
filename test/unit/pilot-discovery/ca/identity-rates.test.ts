import { expect, it } from 'vitest';
import {
  identityRates,
  mostIdentities,
} from '../../../../src/pilot-discovery/ca/identity-rates.ts';

const rate = { burst: 5, perSecond: 2 };

/** How many of `count` requests at one time pass. */
const passing = (
  verdict: ReturnType<typeof identityRates>,
  identity: string,
  now: number,
  count: number,
) => Array.from({ length: count }, () => verdict(identity, now)).filter(isPassing).length;
const isPassing = ({ type }: { readonly type: string }) => type === 'passes';

it('lets a burst pass, and then so many in a second', () => {
  const verdict = identityRates(rate);
  expect(passing(verdict, 'a', 0, 100)).toBe(5);
  expect(passing(verdict, 'a', 499, 100)).toBe(0);
  expect(passing(verdict, 'a', 1_000, 100)).toBe(2);
  expect(passing(verdict, 'a', 3_600_000, 100)).toBe(5);
});

it('counts each identity for itself: 1,000 requests of one cost another one nothing', () => {
  const verdict = identityRates(rate);
  expect(passing(verdict, 'noisy', 0, 1_000)).toBe(5);
  expect(passing(verdict, 'quiet', 0, 5)).toBe(5);
});

it('does not give more if the clock goes back', () => {
  const verdict = identityRates(rate);
  expect(passing(verdict, 'a', 10_000, 5)).toBe(5);
  expect(passing(verdict, 'a', 0, 5)).toBe(0);
  expect(passing(verdict, 'a', 1_000, 5)).toBe(2);
});

it('logs refusals once a minute, with their number', () => {
  const verdict = identityRates({ burst: 1, perSecond: 0.001 });
  const logged = [0, 0, 1, 2, 59_999, 60_000, 60_001].map((now) => {
    const answer = verdict('a', now);
    return answer.type === 'passes' ? 'passes' : answer.unlogged;
  });
  expect(logged).toEqual(['passes', 1, undefined, undefined, undefined, 4, undefined]);
});

it('keeps a bounded number of identities, and forgets the one that was silent longest', () => {
  const verdict = identityRates(rate);
  expect(passing(verdict, 'first', 0, 5)).toBe(5);
  expect(passing(verdict, 'second', 0, 5)).toBe(5);
  expect(passing(verdict, 'first', 0, 1)).toBe(0);
  for (let number = 2; number < mostIdentities; number += 1) verdict(`other ${number}`, 0);
  expect(passing(verdict, 'first', 0, 1)).toBe(0);
  verdict('one more', 0);
  expect(passing(verdict, 'first', 0, 1)).toBe(0);
  expect(passing(verdict, 'second', 0, 5)).toBe(5);
});
