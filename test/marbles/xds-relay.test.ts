import {
  asyncScheduler,
  filter,
  ignoreElements,
  map,
  merge,
  NEVER,
  type Observable,
  of,
  Subject,
  take,
  tap,
} from 'rxjs';
import type { RunHelpers } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import type { LastGood } from '../../src/pilot-agent/xds-proxy/last-good.ts';
import { typeUrls } from '../../src/shared/xds/resources.ts';
import { narrateXds } from '../../src/pilot-agent/xds-proxy/relay-telemetry.ts';
import { xdsRelay } from '../../src/pilot-agent/xds-proxy/xds-relay.ts';
import {
  config,
  fakeControlPlane,
  fakeEnvoy,
  type FakeEnvoyOptions,
  type Mood,
  resource,
} from '../support/marbles/fake-mesh.ts';
import { at } from '../../src/testing/at.ts';
import { marbles } from '../support/marbles/marbles.ts';

const hour = 3_600_000;
const firstConfig = config('1');
const secondConfig = config('2');

/** Returns what an agent stored `age` ms ago, in version 0. */
function stored(age: number, nodeId = 'node'): LastGood {
  const names = { clusters: 'a', endpoints: 'a', listeners: 'r', routes: 'r' };
  const types = Object.entries(names).map(
    ([type, name]) =>
      [
        typeUrls[type as keyof typeof names],
        {
          version: '0',
          resources: new Map([[name, resource(name, '0')]]),
          absent: new Set<string>(),
        },
      ] as const,
  );
  return { types: new Map(types), nodeId, confirmedAt: asyncScheduler.now() - age };
}

interface Drawing {
  /** The moods of the control plane over time. */
  readonly moods: string;
  /** The times at which Envoys connect: `a` is the first of `envoys`. */
  readonly comes: string;
  readonly envoys?: readonly FakeEnvoyOptions[];
  readonly good?: LastGood;
  readonly maxAge?: number;
}

const moods: Readonly<Record<string, Mood>> = {
  x: 'away',
  s: 'silent',
  1: firstConfig,
  2: secondConfig,
  3: config('3', ['a', 'b'], ['r', 's']),
};

/**
 * Draws the relay between a fake control plane and fake Envoys. `given` contains the answers to
 * each Envoy, `heard$` what the control plane receives, `codes$` the codes of the log, and `kept$`
 * the versions that are written.
 */
function draw(
  m: RunHelpers,
  { moods: drawn, comes, envoys = [{}], good, maxAge = 24 * hour }: Drawing,
) {
  const controlPlane = fakeControlPlane(m.hot<Mood>(drawn, moods));
  const fakes = envoys.map(fakeEnvoy);
  const call$ = m
    .hot<number>(comes, { a: 0, b: 1, c: 2 })
    .pipe(map((index) => fakes[index]?.call ?? expect.unreachable()));
  const codes$ = new Subject<string>();
  const kept$ = new Subject<string>();
  const relay$ = xdsRelay({
    ...{ call$, connect$: controlPlane.connect, stored: good, maxAge, random: () => 0.5 },
    write: ({ types }) => kept$.next(types.get(typeUrls.clusters)?.version ?? ''),
  }).pipe(
    tap((transition) =>
      narrateXds('cp:15012', transition).forEach(({ event }) => codes$.next(event)),
    ),
  );
  return {
    given: fakes.map(({ given$ }) => given$),
    heard$: controlPlane.heard$,
    codes$: codes$.asObservable(),
    kept$: kept$.asObservable(),
    life$: merge(controlPlane.follow$, relay$).pipe(ignoreElements()),
  };
}

/** Expects a stream of words: at each time, the words of that time. */
function expectWords(
  m: RunHelpers,
  word$: Observable<string> | undefined,
  times: Readonly<Record<string, readonly string[]>>,
): void {
  const words = [...new Set(Object.values(times).flat())];
  const signs = 'abcdefghijklmnopqrstuvwxyz';
  const sign = (word: string) => signs.charAt(words.indexOf(word));
  const drawn = Object.fromEntries(
    Object.entries(times).map(([time, wordsThen]) => [time, wordsThen.map(sign).join('')]),
  );
  const values = Object.fromEntries(words.map((word) => [sign(word), word]));
  m.expectObservable(word$ ?? of('there is none')).toBe(at(drawn), values);
}

const whole = (version: string) =>
  ['clusters', 'endpoints', 'listeners', 'routes'].map((type) => `${type} ${version}`);
/**
 * Returns the resources of a change. Endpoints and routes are sent again after the resources that
 * refer to them, because Envoy waits for them.
 */
const follows = (before: string, version: string) =>
  [
    ['clusters', 'endpoints'],
    ['listeners', 'routes'],
  ].flatMap(([type, waiting]) => [
    `${type} ${version}`,
    `${waiting} ${before}`,
    `${waiting} ${version}`,
  ]);
const begins = (version: string) => [...whole(version), 'begun'];

describe('xdsRelay', () => {
  it(
    'connects when an Envoy asks, and gives it what the control plane says',
    marbles((m) => {
      const { given, codes$, life$ } = draw(m, { moods: '1', comes: '5s a' });
      expectWords(m, given[0], { '5s': begins('1') });
      expectWords(m, codes$, { '5s': ['xds.connected'] });
      m.expectObservable(life$, '^ 10s !').toBe('-');
    }),
  );

  it(
    'passes each change on, and tells the control plane what Envoy has made of it',
    marbles((m) => {
      const { given, heard$, life$ } = draw(m, {
        moods: at({ '0s': '1', '10s': '2' }),
        comes: '5s a',
      });
      expectWords(m, given[0], { '5s': begins('1'), '10s': follows('1', '2') });
      const accepted = (type: string) => `accepted ${type}`;
      const first = [
        'connect',
        'asked clusters',
        'asked endpoints',
        accepted('clusters'),
        accepted('endpoints'),
      ];
      const then = ['asked listeners', 'asked routes', accepted('listeners'), accepted('routes')];
      const changed = ['clusters', 'endpoints', 'listeners', 'routes'].map(accepted);
      expectWords(m, heard$, { '5s': [...first, ...then], '10s': changed });
      m.expectObservable(life$, '^ 15s !').toBe('-');
    }),
  );

  it(
    'takes away what the control plane does not have any more, once',
    marbles((m) => {
      const { given, life$ } = draw(m, { moods: at({ '0s': '3', '10s': '1' }), comes: '5s a' });
      const updates$ = given[0]?.pipe(filter((word) => /clusters|listeners/.test(word)));
      expectWords(m, updates$, {
        '5s': ['clusters 3', 'listeners 3'],
        '10s': ['clusters 1', 'listeners 1'],
      });
      m.expectObservable(life$, '^ 15s !').toBe('-');
    }),
  );

  it(
    'tells the control plane that Envoy refuses, and does not give it the same again',
    marbles((m) => {
      const { given, heard$, codes$, life$ } = draw(m, {
        moods: at({ '0s': '1', '10s': '2', '20s': '1' }),
        comes: '5s a',
        envoys: [{ refuses: '2' }],
      });
      expectWords(m, given[0], { '5s': begins('1'), '10s': follows('1', '2'), '20s': whole('1') });
      const later$ = heard$.pipe(filter(() => asyncScheduler.now() >= 10_000));
      const all = ['clusters', 'endpoints', 'listeners', 'routes'];
      expectWords(m, later$, {
        '10s': all.map((type) => `refused ${type}`),
        '20s': all.map((type) => `accepted ${type}`),
      });
      expectWords(m, codes$, {
        '5s': ['xds.connected'],
        '10s': all.map(() => 'xds.rejected'),
        '20s': all.map(() => 'xds.accepted'),
      });
      m.expectObservable(life$, '^ 25s !').toBe('-');
    }),
  );

  it(
    'answers a child from what its parent has accepted, and asks the control plane for nothing',
    marbles((m) => {
      const { given, heard$, life$ } = draw(m, {
        moods: '1',
        comes: at({ '5s': 'a', '10s': 'b' }),
        envoys: [{}, {}],
      });
      expectWords(m, given[1], { '10s': begins('1') });
      m.expectObservable(heard$.pipe(filter(() => asyncScheduler.now() >= 10_000))).toBe('-');
      m.expectObservable(life$, '^ 15s !').toBe('-');
    }),
  );

  it(
    'gives an Envoy that starts without a control plane what the one before has accepted, at once, and says so',
    marbles((m) => {
      const drawing = {
        moods: at({ '0s': '1', '10s': 'x' }),
        comes: at({ '5s': 'a', '60s': 'b' }),
        envoys: [{ gone$: m.hot('59s g') }, {}],
      };
      const { given, codes$, life$ } = draw(m, drawing);
      expectWords(m, given[1], { '60s': begins('1') });
      // The connection breaks at 10 s, and an attempt fails half a second later.
      expectWords(m, codes$, {
        '5s': ['xds.connected'],
        '10.5s': ['xds.unavailable'],
        '60s': ['xds.stored_served'],
      });
      m.expectObservable(life$, '^ 62s !').toBe('-');
    }),
  );

  it(
    'connects at once for an Envoy that starts after the last attempt for another one',
    marbles((m) => {
      // Attempts at 5, 6, 8, 12, 20 and 30 s.
      const { given, life$ } = draw(m, {
        moods: at({ '0s': 'x', '31s': '1' }),
        comes: at({ '5s': 'a', '40s': 'b' }),
        envoys: [{ gone$: m.hot('21s g') }, {}],
      });
      expectWords(m, given[1], { '40s': begins('1') });
      m.expectObservable(life$, '^ 60s !').toBe('-');
    }),
  );

  it(
    'replaces what is stored by what the control plane says when it is back, without a restart',
    marbles((m) => {
      const { given, codes$, life$ } = draw(m, {
        moods: at({ '0s': 'x', '20s': '2' }),
        comes: '5s a',
        good: stored(14 * 60_000),
      });
      // Attempts at 5, 6, 8, 12 and 20 s.
      const updates$ = given[0]?.pipe(filter((word) => word !== 'begun'));
      expectWords(m, updates$, { '5s': whole('0'), '20s': whole('2') });
      expectWords(m, codes$, {
        '5s': ['xds.unavailable', 'xds.stored_served'],
        '20s': ['xds.available', 'xds.stored_replaced'],
      });
      m.expectObservable(life$, '^ 25s !').toBe('-');
    }),
  );

  it(
    'waits 4 s for a control plane that is silent before it serves what another agent has stored',
    marbles((m) => {
      const { given, codes$, life$ } = draw(m, { moods: 's', comes: '5s a', good: stored(60_000) });
      expectWords(m, given[0], { '9s': begins('0') });
      expectWords(m, codes$, { '9s': ['xds.unavailable', 'xds.stored_served'] });
      m.expectObservable(life$, '^ 12s !').toBe('-');
    }),
  );

  for (const [what, good] of [
    ['older than the limit', () => stored(24 * hour + 1)],
    ['for another node', () => stored(60_000, 'another node')],
  ] as const) {
    it(
      `does not serve what is ${what}`,
      marbles((m) => {
        const { given, codes$, life$ } = draw(m, {
          moods: at({ '0s': 'x', '60s': '1' }),
          comes: '5s a',
          good: good(),
        });
        m.expectObservable(given[0]?.pipe(take(1)) ?? of()).toBe('60s (a|)', { a: 'clusters 1' });
        expectWords(m, codes$, { '5s': ['xds.unavailable'], '60s': ['xds.available'] });
        m.expectObservable(life$, '^ 70s !').toBe('-');
      }),
    );
  }

  it(
    'keeps what an Envoy has accepted once it is quiet for a second, and confirms it every ten minutes and at the end of the connection',
    marbles((m) => {
      const { kept$, life$ } = draw(m, {
        moods: at({ '0s': '1', '60s': '2', '15m': 'x' }),
        comes: '5s a',
      });
      expectWords(m, kept$, { '6s': ['1'], '61s': ['2'], '601s': ['2'], '901s': ['2'] });
      m.expectObservable(life$, '^ 20m !').toBe('-');
    }),
  );

  for (const [how, change, kept] of [
    ['not within 30 s of its start', '34.999s', { '601s': ['2'] }],
    ['30 s after its start', '35s', { '36s': ['2'], '601s': ['2'] }],
  ] as const)
    it(
      `keeps what an Envoy has accepted without a type that it does not request: ${how}`,
      marbles((m) => {
        const good = stored(60_000);
        const types = new Map(good.types).set(typeUrls.extensions, {
          version: '0',
          resources: new Map(),
          absent: new Set(),
        });
        const { kept$, life$ } = draw(m, {
          moods: at({ '0s': '1', [change]: '2' }),
          comes: '5s a',
          good: { ...good, types },
        });
        expectWords(m, kept$, kept);
        m.expectObservable(life$, '^ 15m !').toBe('-');
      }),
    );

  it(
    'keeps nothing with an age limit of 0, so that an Envoy waits for the control plane',
    marbles((m) => {
      const { given, codes$, kept$, life$ } = draw(m, {
        moods: at({ '0s': '1', '10s': 'x', '29s': '2' }),
        comes: at({ '5s': 'a', '20s': 'b' }),
        envoys: [{}, {}],
        good: stored(0),
        maxAge: 0,
      });
      // The second Envoy ends a pause at 20 s. The next attempt is at 30 s.
      m.expectObservable(given[1]?.pipe(take(1)) ?? of()).toBe('30s (a|)', { a: 'clusters 2' });
      expectWords(m, codes$, {
        '5s': ['xds.connected'],
        '10.5s': ['xds.unavailable'],
        '30s': ['xds.available'],
      });
      m.expectObservable(kept$).toBe('-');
      m.expectObservable(life$, '^ 20m !').toBe('-');
    }),
  );

  for (const [how, maxAge, times] of [
    ['never with an age limit of 0', 0, '-'],
    ['every second with one of 1 ms', 1, at({ '1s': 'c', '2s': 'c', '3s': 'c' })],
    ['every 30 s with one of a minute', 60_000, at({ '30s': 'c', '60s': 'c', '90s': 'c' })],
  ] as const)
    it(
      `confirms ${how}`,
      marbles((m) => {
        const due$ = xdsRelay({
          ...{ call$: NEVER, connect$: () => NEVER, stored: undefined, maxAge },
          ...{ random: () => 0.5, write: () => undefined },
        }).pipe(map(({ event }) => (event.type === 'confirmation-due' ? 'c' : event.type)));
        m.expectObservable(due$, `^ ${maxAge === 1 ? '3.5s' : '100s'} !`).toBe(times);
      }),
    );

  it(
    'tells that the control plane is away within 5 s, and then every five minutes',
    marbles((m) => {
      const { codes$, life$ } = draw(m, { moods: at({ '0s': '1', '10s': 'x' }), comes: '5s a' });
      expectWords(m, codes$, {
        '5s': ['xds.connected'],
        '10.5s': ['xds.unavailable'],
        '315.5s': ['xds.unavailable'],
      });
      m.expectObservable(life$, '^ 10m !').toBe('-');
    }),
  );

  it(
    'does not tell of a connection that the control plane ends and takes anew',
    marbles((m) => {
      const { given, codes$, life$ } = draw(m, {
        moods: at({ '0s': '1', '10s': 'x', '10.2s': '1' }),
        comes: '5s a',
      });
      expectWords(m, given[0], { '5s': begins('1') });
      expectWords(m, codes$, { '5s': ['xds.connected'], '10.5s': ['xds.connected'] });
      m.expectObservable(life$, '^ 15s !').toBe('-');
    }),
  );
});
