import { expect, it } from 'vitest';
import { identityRates } from '../../../../src/pilot-discovery/ca/identity-rates.ts';

const rate = { burst: 5, perSecond: 2 };

/** Returns how many of `count` requests at one time pass. */
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

it('logs refusals once a minute, with their number', () => {
  const verdict = identityRates({ burst: 1, perSecond: 0.001 });
  const logged = [0, 0, 1, 2, 59_999, 60_000, 60_001].map((now) => {
    const answer = verdict('a', now);
    return answer.type === 'passes' ? 'passes' : answer.unlogged;
  });
  expect(logged).toEqual(['passes', 1, undefined, undefined, undefined, 4, undefined]);
});

it('logs again at once if the clock has gone back', () => {
  const verdict = identityRates({ burst: 1, perSecond: 0.001 });
  const logged = [600_000, 600_000, 600_001, 0, 1].map((now) => {
    const answer = verdict('a', now);
    return answer.type === 'passes' ? 'passes' : answer.unlogged;
  });
  expect(logged).toEqual(['passes', 1, undefined, 2, undefined]);
});
