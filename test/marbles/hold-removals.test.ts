import { describe, expect, it } from 'vitest';
import { TestScheduler } from 'rxjs/testing';
import { map, NEVER, takeUntil, timer } from 'rxjs';
import { defaultMeshConfig } from '../../src/pilot-discovery/istio/mesh/mesh-config.ts';
import type { AnyResource, ResourceKey } from '../../src/pilot-discovery/istio/documents/model.ts';
import { holdRemovals } from '../../src/pilot-discovery/environment/hold-removals.ts';
import type { StoreEvent } from '../../src/pilot-discovery/environment/store-event.ts';
import { anyResource, serviceEntry } from '../support/mesh-resources.ts';

const key = (name: string, namespace = 'default'): ResourceKey =>
  `ServiceEntry/${namespace}/${name}`;
const names = (count: number) => Array.from({ length: count }, (_, index) => `s${index}`);
const entry = (name: string, namespace = 'default') =>
  anyResource(`ServiceEntry/${namespace}/${name}`, serviceEntry({}));
const change = (
  upserts: readonly string[],
  removes: readonly ResourceKey[] = [],
  source = 'files',
): StoreEvent => ({
  type: 'changed',
  source,
  upserts: upserts.map((name) => entry(name)),
  removes,
});

/** Returns an event as text: `+3 -3` for upserts and removals, `held 3` for removals held back. */
const shown = (event: StoreEvent): string => {
  if (event.type === 'held') return `held ${event.removes.length}`;
  if (event.type !== 'changed') return event.type;
  return `+${event.upserts.length} -${event.removes.length}`;
};

/** The events: a source of 20 entries, then its changes. */
const events: Readonly<Record<string, StoreEvent>> = {
  a: change(names(20)),
  o: change(
    [],
    names(20).map((name) => key(name)),
  ),
  h: change(
    [],
    names(10).map((name) => key(name)),
  ),
  m: change(
    [],
    names(11).map((name) => key(name)),
  ),
  b: change(names(20)),
  n: change(['new']),
  s: change(names(1)),
  l: { type: 'lost', source: 'files', reason: 'gone' },
  p: change([], [...names(10).map((name) => key(name)), key('s10')]),
  x: change([], [key('s19')]),
};

function check(
  source: string,
  confirm: string,
  expected: string,
  values: Readonly<Record<string, string>>,
  ms = 60_000,
): void {
  const scheduler = new TestScheduler((actual, wanted) => expect(actual).toEqual(wanted));
  scheduler.run((m) => {
    const confirm$ = m.hot(confirm).pipe(map(() => undefined));
    const event$ = m.hot(source, events);
    m.expectObservable(
      event$.pipe(holdRemovals(ms, confirm$, scheduler), map(shown)),
      '70s !',
    ).toBe(expected, values);
  });
}

describe('a reading that takes much away at once', () => {
  it('is held back for a minute', () => {
    check('a-o 59998ms -----', '', 'a-h 59999ms (gz)', {
      a: '+20 -0',
      h: 'held 20',
      g: '+0 -20',
      z: 'held 0',
    });
  });

  it('is let through if it is confirmed', () => {
    check('a-o---', '-----c', 'a-h--(gz)', { a: '+20 -0', h: 'held 20', g: '+0 -20', z: 'held 0' });
  });

  it('is forgotten if the resources come back', () => {
    check('a-o--b', '-------c', 'a-h--(bz)', {
      a: '+20 -0',
      h: 'held 20',
      b: '+20 -0',
      z: 'held 0',
    });
  });

  it('shrinks as single resources come back, and its time goes on', () => {
    check('a-o--s', '', 'a-h--(sk) 59993ms (gz)', {
      a: '+20 -0',
      h: 'held 20',
      s: '+1 -0',
      k: 'held 19',
      g: '+0 -19',
      z: 'held 0',
    });
  });

  it('lets what comes meanwhile through, and what is not a mass', () => {
    check('a-m--n-l', '', 'a-h--n-l 59994ms (gz)', {
      a: '+20 -0',
      h: 'held 11',
      n: '+1 -0',
      l: 'lost',
      g: '+0 -11',
      z: 'held 0',
    });
  });

  it('takes later removals in', () => {
    check('a-m--x', '', 'a-h--k 59996ms (gz)', {
      a: '+20 -0',
      h: 'held 11',
      k: 'held 12',
      g: '+0 -12',
      z: 'held 0',
    });
  });

  it('is none up to half of a kind', () => {
    check('a-h', '', 'a-h', { a: '+20 -0', h: '+0 -10' });
  });

  it('passes at once if nothing is to be held back', () => {
    check('a-o', '---c', 'a-o', { a: '+20 -0', o: '+0 -20' }, 0);
  });
});

describe('the entries of a namespace', () => {
  const small = (count: number): readonly string[] => {
    const lines: string[] = [];
    const scheduler = new TestScheduler(() => undefined);
    scheduler.run((m) => {
      const all: StoreEvent = {
        ...change(names(30)),
        upserts: [
          ...names(30).map((name) => entry(name)),
          ...names(count).map((name) => entry(name, 'shop')),
        ],
      } as StoreEvent;
      const gone = change(
        [],
        names(count).map((name) => key(name, 'shop')),
      );
      const event$ = m
        .hot('a-g', { a: all, g: gone })
        .pipe(holdRemovals(60_000, NEVER, scheduler), map(shown));
      event$.subscribe({
        next: (line) => lines.push(line),
        error: (error: unknown) => lines.push(String(error)),
      });
      m.flush();
    });
    return lines;
  };

  it('are held back if all go, and an only one is not', () => {
    expect(small(3)).toEqual(['+33 -0', 'held 3', '+0 -3', 'held 0']);
    expect(small(1)).toEqual(['+31 -0', '+0 -1']);
  });
});

describe('the Namespace of resources', () => {
  const namespace = anyResource('Namespace//shop', { network: '' });
  const selecting: StoreEvent = {
    type: 'mesh',
    mesh: { ...defaultMeshConfig, discoverySelectors: [[]] },
  };
  const changed = (upserts: readonly AnyResource[], removes: readonly string[]): StoreEvent => ({
    type: 'changed',
    source: 'Kubernetes',
    upserts,
    removes,
  });
  const all = changed([namespace, entry('a', 'shop'), entry('b', 'shop'), entry('c')], []);
  const gone = (...keys: readonly string[]) => changed([], keys);
  /** Returns the events that follow from `given`, one per frame, within 10 ms. */
  const linesOf = (...given: readonly StoreEvent[]): readonly string[] => {
    const lines: string[] = [];
    const scheduler = new TestScheduler(() => undefined);
    scheduler.run((m) => {
      const letters = given.map((_, index) => String.fromCharCode(97 + index));
      const values = Object.fromEntries(
        given.map((event, index) => [letters[index] ?? '', event] as const),
      );
      m.hot<StoreEvent>(letters.join(''), values)
        .pipe(holdRemovals(60_000, NEVER, scheduler), map(shown), takeUntil(timer(10, scheduler)))
        .subscribe({
          next: (line) => lines.push(line),
          error: (error: unknown) => lines.push(String(error)),
        });
      m.flush();
    });
    return lines;
  };

  it('goes at once if nothing is in it, or if all namespaces are seen', () => {
    const alone = changed([namespace], []);
    expect(linesOf(selecting, alone, gone('Namespace//shop'))).toEqual(['mesh', '+1 -0', '+0 -1']);
    expect(linesOf(all, gone('Namespace//shop'))).toEqual(['+4 -0', '+0 -1']);
  });

  it('is held while resources are in it, and goes with the last of them', () => {
    const lastKeys = [key('a', 'shop')];
    const small = changed([namespace, entry('a', 'shop'), entry('c')], []);
    expect(linesOf(selecting, small, gone('Namespace//shop'), gone(...lastKeys))).toEqual([
      'mesh',
      '+3 -0',
      'held 1',
      '+0 -2',
      'held 0',
    ]);
  });

  it('is held with resources that are held', () => {
    const both = [key('a', 'shop'), key('b', 'shop')];
    expect(linesOf(selecting, all, gone(...both), gone('Namespace//shop'))).toEqual([
      'mesh',
      '+4 -0',
      'held 2',
      'held 3',
    ]);
    expect(linesOf(selecting, all, gone('Namespace//shop'), gone(...both))).toEqual([
      'mesh',
      '+4 -0',
      'held 1',
      'held 3',
    ]);
  });

  it('is not held any more when it comes back', () => {
    expect(linesOf(selecting, all, gone('Namespace//shop'), changed([namespace], []))).toEqual([
      'mesh',
      '+4 -0',
      'held 1',
      '+1 -0',
      'held 0',
    ]);
  });
});
