import { describe, expect, it } from 'vitest';
import type {
  AnyResource,
  ResourceKey,
} from '../../../../src/pilot-discovery/istio/documents/model.ts';
import {
  emptyStore,
  reduceStore,
  type Store,
} from '../../../../src/pilot-discovery/environment/store.ts';
import type { StoreEvent } from '../../../../src/pilot-discovery/environment/store-event.ts';
import type { LogLine } from '../../../../src/shared/log/log-line.ts';
import { initialView } from '../../../../src/pilot-discovery/state/fold-view.ts';
import { narrateDiscovery } from '../../../../src/pilot-discovery/state/narrate-discovery.ts';
import { growthRatio } from '../../../support/growth-ratio.ts';
import { anyResource, workload } from '../../../support/mesh-resources.ts';

type Source = 'one' | 'two';

const entry = (source: Source, name: string): AnyResource => ({
  ...anyResource(`WorkloadEntry/n/${name}`, workload({})),
  origin: { source, path: `${source}.yaml`, line: 1 },
});
const key = (name: string): ResourceKey => `WorkloadEntry/n/${name}`;

const changed = (
  source: Source,
  names: readonly string[],
  removes: readonly ResourceKey[] = [],
): StoreEvent => ({
  type: 'changed',
  source,
  upserts: names.map((name) => entry(source, name)),
  removes,
});
const storeOf = (...events: readonly StoreEvent[]): Store =>
  events.reduce((store, event) => reduceStore(store, event)[0], emptyStore(['one', 'two']));

function linesAfter(before: Store, event: StoreEvent): readonly LogLine[] {
  const [store, changes] = reduceStore(before, event);
  const step = { type: 'source-event', event, store, changes } as const;
  return narrateDiscovery({ ...initialView, store: before }, step, 0, 0);
}
const shown = (lines: readonly LogLine[]): readonly string[] =>
  lines.map(({ event, ...fields }) => `${event} ${String(fields['resource'])}`);

describe('the lines about flaws', () => {
  const both = storeOf(changed('one', ['a', 'b']), changed('two', ['a', 'b', 'c']));

  it('name a resource that another source has too, once, whichever has it later', () => {
    const first = storeOf(changed('one', ['a']));
    const second = storeOf(changed('two', ['a']));
    expect(shown(linesAfter(first, changed('two', ['a'])))).toEqual([
      `discovery.refused ${key('a')}`,
    ]);
    expect(shown(linesAfter(second, changed('one', ['a'])))).toEqual([
      `discovery.refused ${key('a')}`,
    ]);
    expect(linesAfter(both, changed('two', ['a', 'd']))).toEqual([]);
  });

  it('say that a resource is mended only if it has no other error', () => {
    const removal = changed('one', [], [key('a')]);
    expect(shown(linesAfter(both, removal))).toEqual([`discovery.mended ${key('a')}`]);
    const origin = { source: 'two', path: 'other.yaml', line: 1 };
    const flaw = { key: key('a'), origin, field: '', reason: 'bad', severity: 'error' } as const;
    const [faulty] = reduceStore(both, { type: 'flaws', source: 'two', flaws: [flaw] });
    expect(linesAfter(faulty, removal)).toEqual([]);
    expect(shown(linesAfter(faulty, { type: 'flaws', source: 'two', flaws: [] }))).toEqual([]);
  });

  it('cost as much as the event, not as the sources', () => {
    const mesh = (size: number) => {
      const names = (letter: string) =>
        Array.from({ length: size }, (_, number) => `${letter}${number}`);
      return storeOf(changed('one', names('a')), changed('two', names('b')));
    };
    const [small, large] = [mesh(500), mesh(10_000)];
    const rounds = (store: Store) => () => {
      for (let round = 0; round < 20; round += 1) linesAfter(store, changed('two', ['b1']));
    };
    expect(growthRatio(rounds(small), rounds(large), 4)).toBeLessThan(8);
  });
});
