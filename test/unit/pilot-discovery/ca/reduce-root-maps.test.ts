import { describe, expect, it } from 'vitest';
import {
  nothingPublished,
  reduceRootMaps,
  type RootMapsEffect,
  type RootMapsNews,
  type RootMapsState,
} from '../../../../src/pilot-discovery/ca/reduce-root-maps.ts';
import type { RootMapsChange } from '../../../../src/pilot-discovery/ca/root-maps-event.ts';
import type { LabelSelector } from '../../../../src/pilot-discovery/istio/fields/label-selector.ts';

const bundle = (digest: string): RootMapsChange => ({
  type: 'bundle',
  bundle: { text: `text of ${digest}`, digest, isFor: 'all namespaces' },
});
const selectors = (...all: readonly LabelSelector[]): RootMapsChange => ({
  type: 'selectors',
  selectors: all,
});
const namespaces = (
  scope: 'all' | 'changed',
  ...names: readonly (string | readonly [string, Readonly<Record<string, string>> | undefined])[]
): RootMapsChange => ({
  type: 'namespaces',
  scope,
  namespaces: new Map(
    names.map((name) =>
      typeof name === 'string' ? [name, { labels: {} }] : [name[0], name[1] && { labels: name[1] }],
    ),
  ),
});
const maps = (
  scope: 'all' | 'changed',
  digests: Readonly<Record<string, string | undefined>> = {},
): RootMapsChange => ({ type: 'maps', scope, digests: new Map(Object.entries(digests)) });
const written = (namespace: string, status?: number, pause = 0): RootMapsChange => ({
  type: 'written',
  namespace,
  failure: status === undefined ? undefined : { reason: `status ${status}`, status, pause },
});

/**
 * Runs the reducer. `effectsAt` passes changes at a time, and returns the namespaces that are
 * written then, or how long to wait.
 */
function run(...first: readonly RootMapsChange[]) {
  let state: RootMapsState = nothingPublished;
  const news: RootMapsNews[] = [];
  const effectsAt = (now: number, ...changes: readonly RootMapsChange[]) => {
    let effects: readonly RootMapsEffect[] = [];
    for (const change of changes) {
      const [next, more] = reduceRootMaps(state, { ...change, now, random: 0.5 });
      state = next;
      news.push(...next.news);
      effects = [...effects, ...more];
    }
    return effects.map((effect) => (effect.type === 'write' ? effect.namespace : effect.pause));
  };
  return {
    effectsAt,
    news,
    first: effectsAt(0, ...first),
    types: () => news.map(({ type }) => type),
  };
}
const everything = (...names: readonly string[]) => [
  bundle('a'),
  selectors(),
  namespaces('all', ...names),
  maps('all'),
];

describe('what is written', () => {
  it('is nothing until the roots, the selectors, namespaces and ConfigMaps are known', () => {
    const all = everything('shop');
    for (const missing of all)
      expect(run(...all.filter((event) => event !== missing)).first).toEqual([]);
    expect(run(...all).first).toEqual(['shop']);
    expect(run(...all.toReversed()).first).toEqual(['shop']);
  });

  it('is nothing for a bundle that only those need who have another one', () => {
    const { effectsAt, first, types } = run(
      {
        type: 'bundle',
        bundle: { text: '', digest: 'blank', isFor: 'namespaces that have one' },
      },
      selectors(),
      namespaces('all', 'a', 'b', 'c'),
      maps('all', { b: 'old', c: 'blank' }),
    );
    expect(first).toEqual(['b']);
    expect(effectsAt(1, { type: 'lost', kind: 'maps', cause: 403, reason: 'no right' })).toEqual(
      [],
    );
    expect(types()).toEqual([]);
  });

  it('is one ConfigMap after another, 10 ms apart, and then the news', () => {
    const { effectsAt, first, news } = run(...everything('a', 'b'));
    expect(first).toEqual(['a']);
    expect(effectsAt(5, written('a'))).toEqual([10]);
    expect(effectsAt(6, maps('changed', { a: 'a' }))).toEqual([9]);
    expect(effectsAt(15, { type: 'due' })).toEqual(['b']);
    expect(news).toEqual([]);
    effectsAt(20, written('b'), maps('changed', { b: 'a' }));
    expect(news).toEqual([{ type: 'roots-published', digest: 'a', namespaces: 2, written: 2 }]);
  });

  it('is nothing if all have the roots', () => {
    const { first, news } = run(
      bundle('a'),
      selectors(),
      namespaces('all', 'a'),
      maps('all', { a: 'a' }),
    );
    expect(first).toEqual([undefined]);
    expect(news).toEqual([]);
  });

  it('is nothing in the namespaces that istiod leaves out, or that are being removed', () => {
    const { first, effectsAt } = run(
      ...everything('kube-public', 'kube-node-lease', 'local-path-storage'),
      namespaces('changed', ['gone', undefined]),
    );
    expect(first).toEqual([undefined, undefined]);
    expect(effectsAt(1, namespaces('changed', 'kube-system'))).toEqual(['kube-system']);
  });

  it('is nothing outside the selected namespaces, until they are selected', () => {
    const selector: LabelSelector = [{ operator: 'exists', key: 'mesh' }];
    const { effectsAt, first } = run(
      bundle('a'),
      selectors(selector),
      namespaces('all', 'out', ['in', { mesh: '' }]),
      maps('all', { in: 'a' }),
    );
    expect(first).toEqual([undefined]);
    expect(effectsAt(1, namespaces('changed', ['out', { mesh: '' }]))).toEqual(['out']);
    effectsAt(2, written('out'), maps('changed', { out: 'a' }));
    // A ConfigMap that is there stays, and is not repaired, as in istiod.
    expect(
      effectsAt(20, namespaces('changed', 'out'), maps('changed', { out: undefined })),
    ).toEqual([undefined, undefined]);
    expect(effectsAt(30, selectors())).toEqual(['out']);
  });

  it('is everything again with other roots', () => {
    const { effectsAt } = run(
      bundle('a'),
      selectors(),
      namespaces('all', 'x', 'y'),
      maps('all', { x: 'a', y: 'a' }),
    );
    expect(effectsAt(1, bundle('a'))).toEqual([]);
    expect(effectsAt(2, bundle('b'))).toEqual(['x']);
  });

  it('is the newer roots if they change while the older ones are written', () => {
    const { effectsAt } = run(...everything('x'));
    expect(effectsAt(1, bundle('b'))).toEqual([]);
    expect(effectsAt(2, maps('changed', { x: 'a' }), written('x'))).toEqual([10]);
    expect(effectsAt(12, { type: 'due' })).toEqual(['x']);
  });

  it('is nothing for a namespace that is gone', () => {
    const { effectsAt } = run(...everything('x', 'y'));
    expect(
      effectsAt(5, written('x'), namespaces('all', 'x'), maps('all', { x: 'a' })).at(-1),
    ).toBeUndefined();
  });
});

/** Returns a run in which the namespace `x` has the roots. */
function published() {
  const all = run(bundle('a'), selectors(), namespaces('all', 'x'), maps('all', { x: 'a' }));
  /**
   * Changes or removes the roots, and lets the reducer repair them as soon as it is due; returns
   * the pause.
   */
  const loss = (now: number, digest?: string) => {
    const pause = Number(all.effectsAt(now, maps('changed', { x: digest }))[0]);
    const due = now + pause;
    expect(all.effectsAt(due, { type: 'due' })).toEqual(['x']);
    all.effectsAt(due, maps('changed', { x: 'a' }), written('x'));
    return pause;
  };
  return { ...all, loss };
}

describe('a ConfigMap that somebody has changed or removed', () => {
  it('is written again soon', () => {
    const { loss, types } = published();
    expect(loss(1_000, 'foreign')).toBe(200);
    expect(loss(2_000)).toBe(400);
    expect(types()).toEqual(['roots-published', 'roots-published']);
  });

  it('is written more and more rarely if it does not end, with one line', () => {
    const { loss, types } = published();
    const steps = Array.from({ length: 9 }, (_, index) => index);
    expect(steps.map((step) => loss(1_000 + step * 310_000, 'foreign'))).toEqual([
      200, 400, 800, 30_000, 60_000, 120_000, 240_000, 300_000, 300_000,
    ]);
    expect(types()).toEqual([
      'roots-published',
      'roots-published',
      'roots-published',
      'roots-contested',
    ]);
    expect(loss(10_000_000, 'foreign')).toBe(200); // the pauses begin again after a calm time
    expect(types().at(-1)).toBe('roots-published');
  });

  it('counts as lost once if it changes again before it is written', () => {
    const { effectsAt } = published();
    expect(effectsAt(1_000, maps('changed', { x: 'one' }))).toEqual([200]);
    expect(effectsAt(1_100, maps('changed', { x: 'two' }))).toEqual([100]);
  });

  it('is written again later if the watch does not show what was written', () => {
    const { effectsAt } = run(...everything('x'));
    expect(effectsAt(100, written('x'))).toEqual([10_000]);
    expect(effectsAt(10_100, { type: 'due' })).toEqual(['x']);
    expect(effectsAt(10_100, written('x'))).toEqual([20_000]);
  });
});

describe('a failure', () => {
  it.each([403, 409, 500])('with status %s is tried again, later and later', (status) => {
    const { effectsAt } = run(...everything('x'));
    let now = 0;
    const pauses = Array.from({ length: 11 }, () => {
      const pause = Number(effectsAt(now, written('x', status))[0]);
      now += pause;
      expect(effectsAt(now, { type: 'due' })).toEqual(['x']);
      return pause / 1_000;
    });
    expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
  });

  it('waits as long as the API asks for', () => {
    expect(run(...everything('x')).effectsAt(0, written('x', 429, 60_000))).toEqual([60_000]);
  });

  it('in one namespace does not stop the others', () => {
    const { effectsAt, news } = run(...everything('bad', 'good'));
    expect(effectsAt(0, written('bad', 422))).toEqual([1_000]);
    expect(effectsAt(1_000, { type: 'due' })).toEqual(['good']);
    effectsAt(1_000, written('good'), maps('changed', { good: 'a' }));
    expect(news).toEqual([]); // the namespace may have been removed at that moment
    expect(effectsAt(1_010, { type: 'due' })).toEqual(['bad']);
    effectsAt(1_010, written('bad', 422));
    expect(news).toEqual([{ type: 'roots-unpublished', reason: 'status 422' }]);
  });

  it('of everything is one line, and its end another one', () => {
    const { effectsAt, news } = run(...everything('x', 'y'));
    effectsAt(0, written('x', 403));
    effectsAt(1_000, { type: 'due' }, written('y', 403));
    effectsAt(3_000, { type: 'due' }, written('x', 403));
    effectsAt(9_000, { type: 'due' }, written('x'), maps('changed', { x: 'a' }));
    effectsAt(9_010, { type: 'due' }, written('y'), maps('changed', { y: 'a' }));
    expect(news.map(({ type }) => type)).toEqual(['roots-unpublished', 'roots-published']);
  });

  it('to read is one line, its end another one, and nothing is written meanwhile', () => {
    const forbidden = { type: 'lost', kind: 'maps', cause: 403, reason: 'no' } as const;
    const { effectsAt, first, types } = run(
      bundle('a'),
      selectors(),
      namespaces('all', 'x'),
      forbidden,
      forbidden,
    );
    expect(first).toEqual([]);
    expect(types()).toEqual(['roots-unpublished']);
    effectsAt(1, maps('all', { x: 'a' }), namespaces('changed', ['other', undefined]));
    expect(types()).toEqual(['roots-unpublished']);
    effectsAt(2, { type: 'followed', kind: 'maps' });
    expect(types()).toEqual(['roots-unpublished', 'roots-published']);
  });

  it('to reach the API is not news here', () => {
    const away = { type: 'lost', kind: 'maps', cause: 'no-answer', reason: 'away' } as const;
    expect(run(...everything('x'), away).news).toEqual([]);
  });
});
