import { expect, it } from 'vitest';
import { plan } from '../chaos/plan.ts';
import { runChaos } from '../chaos/run-chaos.ts';

/** The seeds. Each broke a promise once, or represents those that might. */
const seeds = [5];

it.each(seeds)(
  'whatever happens, nothing is lost that could be kept (30 events of seed %d)',
  async (seed) => {
    const { violations, log, ...figures } = await runChaos({ seed, events: 30 });
    expect(violations, `seed ${seed}\n${log}`).toEqual([]);
    expect(figures.requests).toBeGreaterThan(100);
  },
);

it('goes on behind the events that have been played', () => {
  const rest = plan(5, 20);
  const all = plan(5);
  for (let index = 0; index < 20; index++) all.next();
  expect(Array.from({ length: 20 }, () => rest.next().value)).toEqual(
    Array.from({ length: 20 }, () => all.next().value),
  );
});

it('a seed stands for the same events each time, and another one for others', () => {
  const first = (seed: number) => {
    const events = plan(seed);
    return Array.from({ length: 50 }, () => events.next().value);
  };
  expect(first(5)).toEqual(first(5));
  expect(first(5)).not.toEqual(first(6));
});
