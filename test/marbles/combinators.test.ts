import { asyncScheduler, defer, map, NEVER, type Observable, of, throwError } from 'rxjs';
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
  type Content,
  contentHash,
  type ContributingSource,
  readingOf,
} from '../../src/pilot-agent/sources/contribution.ts';
import { source } from '../../src/pilot-agent/sources/source.ts';
import { withFallback } from '../../src/pilot-agent/sources/with-fallback.ts';
import type { SourceChange } from '../../src/streams/config-source.ts';
import { at } from '../../src/testing/at.ts';
import { marbles } from '../support/marbles/marbles.ts';
import { given, givenAt, signs } from '../support/marbles/told.ts';

const random = () => 0.5;
type Signs = Parameters<typeof at>[0];

/**
 * Returns a source with these contents at their times, e.g. `{ '0s': 'a', '9s': 'b' }`; `#` is a
 * failure.
 */
const drawn = (m: RunHelpers, contents: Signs, name = 'drawn') =>
  source(name, () => m.cold(at(contents)), { random });

const text = (content: Content) => (typeof content === 'string' ? content : '');

/** Returns a source as a user may write it: it reports no changes, and is read each time. */
const plain = (
  reading$: Observable<string>,
  changes$: Observable<SourceChange> = NEVER,
): ContributingSource => ({
  changes$,
  reading$: reading$.pipe(
    map((content) =>
      readingOf([
        {
          source: 'plain',
          use: 'restart',
          at: '',
          hash: contentHash(content),
          content,
          trouble: undefined,
        },
      ]),
    ),
  ),
});

describe('compose', () => {
  it(
    'merges what the sources tell, and reads all of them',
    marbles((m) => {
      const both = () =>
        compose(drawn(m, { '0s': 'a', '5s': 'b' }), drawn(m, { '0s': 'x', '7s': 'y' }, 'other'));
      m.expectObservable(signs(both()), '^ 10s !').toBe(
        at({ '0s': 'rr.x.x', '5s': '.x', '7s': '.x' }),
      );
      const when$ = m.hot(at({ '1s': 'w', '6s': 'w', '8s': 'w' }));
      const composed = both();
      m.expectObservable(composed.changes$, '^ 9s !');
      m.expectObservable(givenAt(composed, when$)).toBe(at({ '1s': '1', '6s': '2', '8s': '3' }), {
        1: 'ax',
        2: 'bx',
        3: 'by',
      });
    }),
  );

  it(
    'waits for a slow source 1 s at the start, and not at all later',
    marbles((m) => {
      const composed = compose(drawn(m, { '0s': 'a' }), drawn(m, { '8s': 'x' }, 'other'));
      m.expectObservable(composed.changes$, '^ 9s !');
      m.expectObservable(given(composed)).toBe('1s (n|)', { n: 'a-!' });
      m.expectObservable(givenAt(composed, m.hot(at({ '8500ms': 'w' })))).toBe(
        at({ '8500ms': 'w' }),
        {
          w: 'ax',
        },
      );
    }),
  );

  it(
    'goes on with the other sources if one errors, and with what that one said last',
    marbles((m) => {
      let isBad = false;
      const broken = plain(
        defer(() => (isBad ? throwError(() => new Error('bad')) : of('p'))),
        m.cold<SourceChange>('2s #'),
      );
      const composed = compose(broken, drawn(m, { '0s': 'a', '5s': 'b' }));
      m.expectObservable(signs(composed), '^ 2100ms !').toBe(at({ '0s': 'r.x', '2s': 'f' }));
      const when$ = m
        .hot(at({ '1s': 'w', '3s': 'w', '6s': 'w' }))
        .pipe(map((_, count) => (isBad = count > 0)));
      m.expectObservable(composed.changes$, '^ 9s !');
      m.expectObservable(givenAt(composed, when$)).toBe(at({ '1s': '1', '3s': '2', '6s': '3' }), {
        1: 'pa',
        2: 'p!a',
        3: 'p!b',
      });
    }),
  );

  it(
    'is nothing of a source that errors at its first reading',
    marbles((m) => {
      const composed = compose(plain(throwError(() => new Error('bad'))), drawn(m, { '0s': 'a' }));
      m.expectObservable(given(composed)).toBe('(n|)', { n: 'a' });
    }),
  );
});

describe('renamed', () => {
  it(
    'has the other name in what it tells and in its parts',
    marbles((m) => {
      const renamedSource = renamed(
        source('old', () => of({ key: 'a' })),
        'new',
      );
      m.expectObservable(
        renamedSource.changes$.pipe(map((sign) => ('source' in sign ? sign.source : ''))),
      ).toBe('(onn)', { o: '', n: 'new' });
      const names$ = renamedSource.reading$.pipe(
        map(({ config, parts }) => [config?.[0]?.source, parts()[0]?.source, parts()[0]?.part]),
      );
      m.expectObservable(names$).toBe('(n|)', { n: ['new', 'new', 'key'] });
    }),
  );
});

describe('gated', () => {
  it(
    'holds changes back while the gate is closed, and tells them when it opens',
    marbles((m) => {
      const open$ = m.cold(at({ '0s': 'o', '3s': 'c', '20s': 'o' }), { o: true, c: false });
      const gatedSource = gated(drawn(m, { '0s': 'a', '5s': 'b', '10s': 'c' }), open$);
      // From 3 s on the source has no subscriber; at 20 s it begins again with a.
      m.expectObservable(signs(gatedSource), '^ 31s !').toBe(
        at({ '0s': 'rx.', '20s': '.', '25s': '.x', '30s': '.x' }),
      );
    }),
  );

  it(
    'reads what there was when it closed, and nothing before it has been open',
    marbles((m) => {
      const open$ = m.cold(at({ '0s': 'c', '4s': 'o', '8s': 'c' }), { o: true, c: false });
      const content = { '0s': 'a' } as const;
      const gatedSource = gated(drawn(m, content), open$);
      m.expectObservable(gatedSource.changes$, '^ 12s !');
      m.expectObservable(givenAt(gatedSource, m.hot(at({ '1s': 'w', '5s': 'w', '9s': 'w' })))).toBe(
        at({ '1s': 'n', '5s': 'a', '9s': 'a' }),
        {
          n: '',
          a: 'a',
        },
      );
    }),
  );

  it(
    'is closed until somebody says that it is open',
    marbles((m) => {
      m.expectObservable(given(gated(drawn(m, { '0s': 'a' }), NEVER))).toBe('(n|)', { n: '' });
    }),
  );
});

describe('mapped', () => {
  it(
    'has each content as it is made, and no change if that is the same',
    marbles((m) => {
      const mappedSource = mapped(drawn(m, { '0s': 'a', '3s': 'A', '6s': 'b' }), (content) =>
        text(content).toLowerCase(),
      );
      m.expectObservable(signs(mappedSource), '^ 7s !').toBe(
        at({ '0s': 'rx.', '3s': '.', '6s': '.x' }),
      );
    }),
  );

  it(
    'keeps what was made last if the next content cannot be made into anything',
    marbles((m) => {
      const mappedSource = mapped(drawn(m, { '0s': 'a', '3s': 'b', '6s': 'c' }), (content) => {
        if (content === 'b') throw new Error('no');
        return text(content).repeat(2);
      });
      m.expectObservable(mappedSource.changes$, '^ 9s !');
      m.expectObservable(
        givenAt(mappedSource, m.hot(at({ '1s': 'w', '4s': 'w', '7s': 'w' }))),
      ).toBe(at({ '1s': '1', '4s': '2', '7s': '3' }), { 1: 'aa', 2: 'aa!', 3: 'cc' });
    }),
  );
});

describe('mapped, while no content can be made', () => {
  it(
    'keeps its reason when the source is read again without a change',
    marbles((m) => {
      const turns = ['a', 'b', 'b', 'b'];
      const polledSource = source('drawn', () => of(turns.shift() ?? 'b'), {
        every: 3_000,
        random,
      });
      const mappedSource = mapped(polledSource, (content) => {
        if (content === 'b') throw new Error('no');
        return text(content).repeat(2);
      });
      m.expectObservable(mappedSource.changes$, '^ 11s !');
      m.expectObservable(
        givenAt(mappedSource, m.hot(at({ '1s': 'w', '4s': 'w', '7s': 'w', '10s': 'w' }))),
      ).toBe(at({ '1s': '1', '4s': '2', '7s': '2', '10s': '2' }), { 1: 'aa', 2: 'aa!' });
    }),
  );
});

describe('polled', () => {
  it(
    'looks every 10 s at a source that cannot tell, and has what is new from then on',
    marbles((m) => {
      const mute = () => plain(defer(() => of(asyncScheduler.now() < 15_000 ? 'a' : 'b')));
      m.expectObservable(signs(polled(mute(), 10_000)), '^ 45s !').toBe(
        at({ '0s': 'rx', '20s': 'x' }),
      );
      const again = polled(mute(), 10_000);
      m.expectObservable(again.changes$, '^ 45s !');
      m.expectObservable(givenAt(again, m.hot(at({ '16s': 'w', '21s': 'w' })))).toBe(
        at({ '16s': 'a', '21s': 'b' }),
      );
    }),
  );
});

describe('withFallback', () => {
  it(
    'is the fallback until the first source says something, and the first one from then on',
    marbles((m) => {
      const sourceWithFallback = withFallback(
        drawn(m, { '5s': 'a', '9s': '#' }),
        drawn(m, { '0s': 'z' }),
      );
      m.expectObservable(sourceWithFallback.changes$, '^ 12s !');
      m.expectObservable(
        givenAt(sourceWithFallback, m.hot(at({ '2s': 'w', '6s': 'w', '9500ms': 'w' }))),
      ).toBe(at({ '2s': '1', '6s': '2', '9500ms': '3' }), { 1: 'z', 2: 'a', 3: 'a!' });
    }),
  );
});

describe('one status of a source with a fallback', () => {
  const east = (m: RunHelpers, contents: Signs, keepLastOnError: boolean) => {
    const turns = Object.values(contents).map((sign) =>
      sign === '#' ? throwError(() => new Error('away')) : m.cold(`(${sign}|)`),
    );
    const pauses = { first: 10_000, longest: 10_000 };
    return source('east', () => turns.shift() ?? NEVER, {
      every: 10_000,
      pauses,
      keepLastOnError,
      random,
    });
  };

  it(
    'is that of the fallback while it serves: who is away is not an error, and is not reported',
    marbles((m) => {
      const first = east(m, { '0s': 'a', '10s': '#', '20s': '#', '30s': '#', '40s': 'b' }, false);
      const gateway = renamed(
        withFallback(
          first,
          source('west', () => m.cold('(z|)'), { every: 10_000, random }),
        ),
        'gateway',
      );
      m.expectObservable(signs(gateway), '^ 45s !').toBe(
        at({ '0s': 'rx', '10s': 'x.', '20s': '.', '30s': '.', '40s': '.x' }),
      );
      m.expectObservable(givenAt(gateway, m.hot(at({ '5s': 'w', '25s': 'w', '42s': 'w' })))).toBe(
        at({ '5s': 'a', '25s': 'z', '42s': 'b' }),
      );
    }),
  );

  it(
    'is a trouble if nobody serves, or the one that serves has what was read before',
    marbles((m) => {
      const [first, second] = [true, false].map((keeps) =>
        east(m, { '0s': 'a', '10s': '#', '20s': 'b' }, keeps),
      ) as [ContributingSource, ContributingSource];
      const away = source('west', () => throwError(() => new Error('away too')), {
        pauses: { first: 60_000, longest: 60_000 },
        random,
      });
      const fallback = source('west', () => m.cold('(z|)'), { random });
      const kept = withFallback(first, fallback);
      m.expectObservable(signs(kept), '^ 16s !').toBe(at({ '0s': 'rx', '10s': 'f' }));
      m.expectObservable(givenAt(kept, m.hot('15s w'))).toBe('15s v', { v: 'a!' });
      m.expectObservable(signs(withFallback(second, away)), '^ 25s !').toBe(
        at({ '0s': 'rx.', '10s': 'fx', '20s': '.x' }),
      );
    }),
  );
});

describe('shared', () => {
  it(
    'is read once, however many listen',
    marbles((m) => {
      const reading$ = m.cold('(a|)');
      const sharedSource = shared(plain(reading$));
      m.expectObservable(sharedSource.changes$, '^ 5s !');
      m.expectObservable(given(sharedSource), '1s ^ 1s !').toBe('1s (a|)');
      m.expectObservable(given(sharedSource), '2s ^ 1s !').toBe('2s (a|)');
      m.expectSubscriptions(reading$.subscriptions).toBe('(^!)');
    }),
  );
});

it('contents are told apart by what they say, whatever the order of their members', () => {
  expect(contentHash({ a: 1, b: { c: [1, 2], d: 3 } })).toBe(
    contentHash({ b: { d: 3, c: [1, 2] }, a: 1 }),
  );
  expect(contentHash({ a: Buffer.from('x') })).not.toBe(contentHash({ a: Buffer.from('y') }));
  expect(contentHash(Buffer.from('x'))).toBe(contentHash('x'));
  expect(contentHash([1, 2])).not.toBe(contentHash([2, 1]));
});

it('a content that is nothing, as JSON has it, is one part', () => {
  const content = JSON.parse('null') as Content;
  const { parts } = readingOf([
    {
      source: 'own',
      use: 'restart',
      at: '',
      hash: contentHash(content),
      content,
      trouble: undefined,
    },
  ]);
  expect(parts()).toEqual([{ source: 'own', part: '', hash: contentHash(content) }]);
});
