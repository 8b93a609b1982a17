import { asyncScheduler, defer, map, NEVER, type Observable, of, switchMap, tap } from 'rxjs';
import type { RunHelpers } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import {
  gated,
  mapped,
  polled,
  renamed,
  shared,
} from '../../src/pilot-agent/sources/combinators.ts';
import { compose } from '../../src/pilot-agent/sources/compose.ts';
import {
  contentHash,
  type ContributingSource,
  readingOf,
} from '../../src/pilot-agent/sources/contribution.ts';
import { debounced, throttled } from '../../src/pilot-agent/sources/pace.ts';
import { source, type SourceOptions } from '../../src/pilot-agent/sources/source.ts';
import { withFallback } from '../../src/pilot-agent/sources/with-fallback.ts';
import { at } from '../../src/testing/at.ts';
import { drawAgent } from '../../src/testing/draw-agent.ts';
import { marbles } from '../support/marbles/marbles.ts';
import { givenAt, signs } from '../support/marbles/told.ts';

type Signs = Parameters<typeof at>[0];

/**
 * Returns a source with these contents at their times, e.g. `{ '0s': 'a', '9s': 'b' }`; `#` is a
 * failure.
 */
const drawn = (m: RunHelpers, contents: Signs, options: SourceOptions = {}) =>
  source('drawn', () => m.cold(at(contents)), { random: () => 0.5, ...options });

/** Emits what a source gives at these times while it has a subscriber. */
function givenWhile(
  m: RunHelpers,
  contributor: ContributingSource,
  ...times: readonly (keyof Signs)[]
): Observable<string> {
  m.expectObservable(contributor.changes$, '^ 100s !');
  return givenAt(contributor, m.hot(at(Object.fromEntries(times.map((time) => [time, 'w'])))));
}

describe('debounced', () => {
  it(
    'changes when the source has said the same for 10 s; the first reading waits for nothing',
    marbles((m) => {
      const debouncedSource = debounced(
        drawn(m, { '0s': 'a', '20s': 'b', '25s': 'c', '60s': 'd' }),
        10_000,
      );
      m.expectObservable(signs(debouncedSource), '^ 75s !').toBe(
        at({ '0s': 'rx.', '20s': '.', '25s': '.', '35s': 'x', '60s': '.', '70s': 'x' }),
      );
      const again = debounced(drawn(m, { '0s': 'a', '20s': 'b', '25s': 'c' }), 10_000);
      m.expectObservable(givenWhile(m, again, '30s', '36s')).toBe(at({ '30s': 'a', '36s': 'c' }));
    }),
  );
});

describe('throttled', () => {
  it(
    'changes once in 60 s at most, to the newest that there is',
    marbles((m) => {
      const throttledSource = throttled(
        drawn(m, { '0s': 'a', '10s': 'b', '20s': 'c', '200s': 'd' }),
        60_000,
      );
      m.expectObservable(signs(throttledSource), '^ 201s !').toBe(
        at({ '0s': 'rx.', '10s': '.', '20s': '.', '60s': 'x', '200s': '.x' }),
      );
      const again = throttled(drawn(m, { '0s': 'a', '10s': 'b', '20s': 'c' }), 60_000);
      m.expectObservable(givenWhile(m, again, '30s', '61s')).toBe(at({ '30s': 'a', '61s': 'c' }));
    }),
  );
});

/** A timing with which a parent ends soon, so no Envoy waits for it. */
const quick = { timing: { parentShutdown: 1_000 } };

describe('a window of its own', () => {
  it(
    'is told 30 s after the first change of a row; the first reading waits for nothing',
    marbles((m) => {
      const contents = { '0s': 'a', '20s': 'b', '40s': 'c', '90s': 'd' } as const;
      const windowedSource = drawn(m, contents, { window: 30_000 });
      m.expectObservable(signs(windowedSource), '^ 125s !').toBe(
        at({ '0s': 'rx.', '20s': '.', '40s': '.', '50s': 'x', '90s': '.', '120s': 'x' }), // c, and then d
      );
      m.expectObservable(givenWhile(m, drawn(m, contents, { window: 30_000 }), '45s', '51s')).toBe(
        at({ '45s': 'a', '51s': 'c' }),
      );
    }),
  );

  it('is in the place of the window of the agent, be it longer or shorter', () => {
    const after = (window: number) => (read: () => Observable<string>, on$: Observable<unknown>) =>
      source('own', read, { on$, window });
    drawAgent({ config: 'a 9s b', source: after(60_000) }).expectEpochs('a 69s b');
    drawAgent({ config: 'a 9s b 2s c', source: after(0), ...quick }).expectEpochs('a 9s b 2s c');
    drawAgent({
      config: 'a 9s b 2s c',
      source: (read, on$) => source('own', read, { on$ }),
    }).expectEpochs('a 19s c');
  });

  it('holds back what it gathers from a reading for another source, and reads with it what others have changed', () => {
    drawAgent({
      ...quick,
      config: 'a 9s b',
      beside: { other: 'x 19s y' },
      source: (read, on$, { other }) =>
        compose(
          source('slow', read, { on$, window: 60_000 }),
          source('other', other?.read ?? (() => NEVER), { on$: other?.changed$ ?? NEVER }),
        ),
    }).expectEpochs('(ax) 28997ms (ay) 39996ms (by)');
    drawAgent({
      config: 'a 9s b',
      beside: { other: 'x 14s y' },
      source: (read, on$, { other }) =>
        compose(
          source('usual', read, { on$ }),
          source('quick', other?.read ?? (() => NEVER), {
            on$: other?.changed$ ?? NEVER,
            window: 0,
          }),
        ),
    }).expectEpochs('(ax) 13997ms (by)');
  });

  it('stays with what is made of the source', () => {
    const makers: Readonly<
      Record<string, (contributor: ContributingSource) => ContributingSource>
    > = {
      renamed: (contributor) => renamed(contributor, 'other'),
      gated: (contributor) => gated(contributor, of(true)),
      mapped: (contributor) => mapped(contributor, (content) => content),
      shared: (contributor) => shared(contributor),
      compose: (contributor) => compose(contributor),
      withFallback: (contributor) =>
        withFallback(
          contributor,
          source('fallback', () => of('z')),
        ),
    };
    for (const make of Object.values(makers)) {
      drawAgent({
        config: 'a 9s b',
        source: (read, on$) => make(source('own', read, { on$, window: 2_000 })),
      }).expectEpochs('a 11s b');
    }
  });
});

describe('a source that is slow to begin', () => {
  it.each<[name: string, make: (contributor: ContributingSource) => ContributingSource]>([
    ['throttled', (contributor) => throttled(contributor, 600_000)],
    ['debounced', (contributor) => debounced(contributor, 600_000)],
    ['window', (contributor) => contributor],
  ])('is waited for no longer: %s', (name, make) => {
    marbles((m) => {
      const slowSource = make(
        drawn(m, { '5s': 'a', '20s': 'b' }, name === 'window' ? { window: 600_000 } : {}),
      );
      m.expectObservable(givenWhile(m, slowSource, '3s', '6s', '30s')).toBe(
        at({ '3s': 'n', '6s': 'a', '30s': 'a' }),
        { n: '-!', a: 'a' },
      );
    })();
  });
});

/** Returns a source as a user may write it: it reports no changes, and is read each time. */
const mute = (contents: Signs): ContributingSource => ({
  changes$: NEVER,
  reading$: defer(() => {
    const times = Object.entries(contents).map(
      ([time, content]) => [1_000 * parseInt(time, 10), content] as const,
    );
    const content = times.findLast(([time]) => time <= asyncScheduler.now())?.[1] ?? '';
    return of(
      readingOf([
        {
          source: 'mute',
          use: 'restart',
          at: '',
          hash: contentHash(content),
          content,
          trouble: undefined,
        },
      ]),
    );
  }),
});

describe('a reading', () => {
  const contents = { '0s': 'a', '10s': 'b', '13s': 'c', '31s': 'd', '70s': 'e' } as const;
  const other = () => source('other', () => of('z'));
  it.each<[name: string, make: (m: RunHelpers) => ContributingSource]>([
    ['source', (m) => drawn(m, contents)],
    ['a window of 7 s', (m) => drawn(m, contents, { window: 7_000 })],
    ['a window of 0 s', (m) => drawn(m, contents, { window: 0 })],
    ['debounced', (m) => debounced(drawn(m, contents), 7_000)],
    ['throttled', (m) => throttled(drawn(m, contents), 25_000)],
    ['polled, one that does not tell', () => polled(mute(contents), 7_000)],
    ['gated', (m) => gated(drawn(m, contents), m.cold('o 10s c 10s o', { o: true, c: false }))],
    ['mapped', (m) => mapped(drawn(m, contents), (content) => ({ content }))],
    ['renamed', (m) => renamed(throttled(drawn(m, contents), 25_000), 'other')],
    ['withFallback', (m) => withFallback(debounced(drawn(m, contents), 7_000), other())],
    ['shared', (m) => shared(throttled(drawn(m, contents), 25_000))],
    [
      'compose',
      (m) =>
        compose(
          other(),
          debounced(drawn(m, contents), 7_000),
          renamed(drawn(m, { '0s': '1', '40s': '2' }), 'more'),
        ),
    ],
    ['compose, throttled', (m) => throttled(compose(other(), drawn(m, contents)), 25_000)],
  ])('never has a change before it is told: %s', (_, make) => {
    const leaks: string[] = [];
    let changeCount = 0;
    marbles((m) => {
      const contributor = make(m);
      m.expectObservable(
        contributor.changes$.pipe(
          map(({ type }) => void (changeCount += type === 'source-read' ? 0 : 1)),
        ),
        '^ 100s !',
      );
      let lastReading: { readonly hash: string; readonly changeCount: number } | undefined;
      // The looks are between the changes, which come at whole seconds.
      const when$ = m.cold(
        at(Object.fromEntries(Array.from({ length: 99 }, (__, s) => [`${s}500ms`, 'w']))),
      );
      const looked$ = when$.pipe(
        switchMap(() => contributor.reading$),
        tap(({ hash }) => {
          if (
            lastReading !== undefined &&
            lastReading.hash !== hash &&
            lastReading.changeCount === changeCount
          )
            leaks.push(`${asyncScheduler.now()} ms: ${hash}`);
          lastReading = { hash, changeCount };
        }),
      );
      m.expectObservable(looked$);
    })();
    expect(leaks).toEqual([]);
    expect(changeCount).toBeGreaterThan(2);
  });
});
