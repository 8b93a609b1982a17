import { asapScheduler, NEVER, Subject } from 'rxjs';
import { expect, it } from 'vitest';
import { holdRemovals } from '../../../../src/pilot-discovery/environment/hold-removals.ts';
import type { StoreEvent } from '../../../../src/pilot-discovery/environment/store-event.ts';
import { growthRatio } from '../../../support/growth-ratio.ts';
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

/**
 * Returns a function that makes 200 changes: a resource of a source with `count` of them goes and
 * comes.
 */
function changesOf(count: number): () => void {
  const event$ = new Subject<StoreEvent>();
  event$.pipe(holdRemovals(60_000, NEVER, asapScheduler)).subscribe();
  event$.next(changed({ upserts: Array.from({ length: count }, (_, index) => entry(index)) }));
  return () => {
    for (let index = 0; index < 100; index += 1) {
      event$.next(changed({ removes: [keyOfEntry(index)] }));
      event$.next(changed({ upserts: [entry(index)] }));
    }
  };
}

it('costs what changes, and not what the source has', () => {
  expect(growthRatio(changesOf(1_000), changesOf(20_000), 2.5)).toBeLessThan(2.5);
});
