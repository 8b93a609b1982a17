import { asapScheduler, NEVER, Subject } from 'rxjs';
import { expect, it } from 'vitest';
import { holdRemovals } from '../../../../src/pilot-discovery/environment/hold-removals.ts';
import type { StoreEvent } from '../../../../src/pilot-discovery/environment/store-event.ts';
import { anyResource, serviceEntry } from '../../../support/mesh-resources.ts';

const entry = (number: number) =>
  anyResource(`ServiceEntry/n${number % 20}/s${number}`, serviceEntry({}));
const keyOfEntry = (number: number) => `ServiceEntry/n${number % 20}/s${number}`;
const changed = (event: Partial<Extract<StoreEvent, { type: 'changed' }>>): StoreEvent => ({
  type: 'changed',
  source: 'files',
  upserts: [],
  removes: [],
  ...event,
});

/** Returns what 200 changes cost, in ms: a resource of a source that has so many goes and comes. */
function changesOf(count: number): () => number {
  const event$ = new Subject<StoreEvent>();
  event$.pipe(holdRemovals(60_000, NEVER, asapScheduler)).subscribe();
  event$.next(changed({ upserts: Array.from({ length: count }, (_, index) => entry(index)) }));
  return () => {
    const begin = performance.now();
    for (let index = 0; index < 100; index += 1) {
      event$.next(changed({ removes: [keyOfEntry(index)] }));
      event$.next(changed({ upserts: [entry(index)] }));
    }
    return performance.now() - begin;
  };
}

it('costs what changes, and not what the source has', () => {
  const [small, large] = [changesOf(1_000), changesOf(20_000)];
  let [few, many] = [Infinity, Infinity];
  // Other programs only add to a time. More rounds are made while they seem to be in the way.
  for (let round = 0; round < 400 && (round < 10 || many / few > 2.5); round += 1) {
    few = Math.min(few, small());
    many = Math.min(many, large());
  }
  expect(many / few).toBeLessThan(2.5);
});
