import {
  concat,
  EMPTY,
  filter,
  ignoreElements,
  map,
  merge,
  mergeMap,
  NEVER,
  type Observable,
  of,
  tap,
  throwError,
  timer,
} from 'rxjs';
import { describe, expect, it } from 'vitest';
import { reduceWithEffects, type Step } from '../../src/operators/reduce-with-effects.ts';
import { marbles } from '../support/marbles/marbles.ts';

/** Appends each event to the state, and orders an effect of the same name for a capital letter. */
const write = (state: string, event: string): Step<string, string> => {
  if (event === '?') throw new Error('unreadable');
  return [state + event, event === event.toUpperCase() ? [event] : []];
};
function nothing(): Observable<never> {
  return NEVER;
}

function states<T>(transition$: Observable<{ readonly state: T }>): Observable<T> {
  return transition$.pipe(map(({ state }) => state));
}

describe('reduceWithEffects', () => {
  it(
    'is silent with a source that is',
    marbles((m) => {
      const source = m.cold('  -');
      const subs = '           ^';
      const expected = '       -';
      m.expectObservable(source.pipe(reduceWithEffects('', write, nothing))).toBe(expected);
      m.expectSubscriptions(source.subscriptions).toBe(subs);
    }),
  );

  it(
    'does not end with its source, as effects may still have something to say',
    marbles((m) => {
      const source = m.cold('  -A|');
      const subs = '           ^-!';
      const unsub = '          ^ 2s !';
      const expected = '       -x 999ms y';
      const interpret = (effects$: Observable<string>) =>
        effects$.pipe(mergeMap(() => timer(1_000).pipe(map(() => 'b'))));
      m.expectObservable(source.pipe(reduceWithEffects('', write, interpret), states), unsub).toBe(
        expected,
        { x: 'A', y: 'Ab' },
      );
      m.expectSubscriptions(source.subscriptions).toBe(subs);
    }),
  );

  it(
    'shows each event between the state before and the state after it',
    marbles((m) => {
      const source = m.hot('   -a-b-');
      const subs = '           ^';
      const expected = '       -x-y-';
      m.expectObservable(source.pipe(reduceWithEffects('>', write, nothing))).toBe(expected, {
        x: { event: 'a', before: '>', state: '>a' },
        y: { event: 'b', before: '>a', state: '>ab' },
      });
      m.expectSubscriptions(source.subscriptions).toBe(subs);
    }),
  );

  it(
    'shows a source that speaks at once from its first event on',
    marbles((m) => {
      const source = concat(of('a', 'b'), NEVER);
      const expected = '       (xy)';
      m.expectObservable(source.pipe(reduceWithEffects('', write, nothing), states)).toBe(
        expected,
        { x: 'a', y: 'ab' },
      );
    }),
  );

  it(
    'queues what effects answer at once behind what is already there, for every reader in the same order',
    marbles((m) => {
      const source = m.hot('   A');
      const expected = '       (xyz)';
      const observed: string[] = [];
      const answers: Record<string, readonly string[]> = { A: ['B', 'C'] };
      const interpret = (effects$: Observable<string>, events$: Observable<string>) =>
        merge(
          effects$.pipe(
            tap((effect) => observed.push(`effect ${effect}`)),
            mergeMap((effect) => answers[effect] ?? []),
          ),
          events$.pipe(
            tap((event) => observed.push(`event ${event}`)),
            ignoreElements(),
          ),
        );
      const state$ = source.pipe(
        reduceWithEffects('', write, interpret),
        states,
        tap((state) => observed.push(`state ${state}`)),
      );
      m.expectObservable(state$).toBe(expected, { x: 'A', y: 'AB', z: 'ABC' });
      m.flush();
      expect(observed).toEqual(
        ['state A', 'effect A', 'event A', 'state AB', 'effect B', 'event B'].concat([
          'state ABC',
          'effect C',
          'event C',
        ]),
      );
    }),
  );

  it(
    'lets an effect see the events after the one that caused it, not that one',
    marbles((m) => {
      const source = m.hot('   -A--a--');
      const expected = '       -x--(yz)';
      const interpret = (effects$: Observable<string>, events$: Observable<string>) =>
        effects$.pipe(
          mergeMap(() =>
            events$.pipe(
              filter((event) => event !== 'e'),
              map(() => 'e'),
            ),
          ),
        );
      m.expectObservable(source.pipe(reduceWithEffects('', write, interpret), states)).toBe(
        expected,
        { x: 'A', y: 'Aa', z: 'Aae' },
      );
    }),
  );

  it(
    'starts anew for each subscriber',
    marbles((m) => {
      const source = m.cold('  -a-b');
      const subs = ['          ^---', '-----^---'];
      const agent$ = source.pipe(reduceWithEffects('', write, nothing), states);
      m.expectObservable(agent$).toBe('             -x-y', { x: 'a', y: 'ab' });
      m.expectObservable(agent$, '-----^').toBe('   ------x-y', { x: 'a', y: 'ab' });
      m.expectSubscriptions(source.subscriptions).toBe(subs);
    }),
  );

  it(
    'ends the source and the effects when it is disposed of early',
    marbles((m) => {
      const source = m.cold('  -A---b');
      const effect$ = m.cold('  ------c');
      const unsub = '          ^---!';
      const running = '        -^--!';
      const expected = '       -x---';
      const interpret = (effects$: Observable<string>) => effects$.pipe(mergeMap(() => effect$));
      m.expectObservable(source.pipe(reduceWithEffects('', write, interpret), states), unsub).toBe(
        expected,
        { x: 'A' },
      );
      m.expectSubscriptions(source.subscriptions).toBe(unsub);
      m.expectSubscriptions(effect$.subscriptions).toBe(running);
    }),
  );

  it(
    'passes an error of the source on and ends the effects',
    marbles((m) => {
      const source = m.cold('  -A-#');
      const effect$ = m.cold('  -');
      const running = '        -^-!';
      const expected = '       -x-#';
      const interpret = (effects$: Observable<string>) => effects$.pipe(mergeMap(() => effect$));
      m.expectObservable(source.pipe(reduceWithEffects('', write, interpret), states)).toBe(
        expected,
        { x: 'A' },
      );
      m.expectSubscriptions(effect$.subscriptions).toBe(running);
    }),
  );

  it(
    'passes on what the reducer throws and lets go of the source',
    marbles((m) => {
      const source = m.hot('   -a-?');
      const subs = '           ^--!';
      const expected = '       -x-#';
      m.expectObservable(source.pipe(reduceWithEffects('', write, nothing), states)).toBe(
        expected,
        { x: 'a' },
        new Error('unreadable'),
      );
      m.expectSubscriptions(source.subscriptions).toBe(subs);
    }),
  );

  it(
    'passes an error of an effect on, after the transition that caused it, and lets go of the source',
    marbles((m) => {
      const source = m.hot('   -a-B-c');
      const subs = '           ^--!';
      const expected = '       -x-(y#)';
      const interpret = (effects$: Observable<string>) =>
        effects$.pipe(mergeMap(() => throwError(() => new Error('no answer'))));
      m.expectObservable(source.pipe(reduceWithEffects('', write, interpret), states)).toBe(
        expected,
        { x: 'a', y: 'aB' },
        new Error('no answer'),
      );
      m.expectSubscriptions(source.subscriptions).toBe(subs);
    }),
  );

  it(
    'goes on when there is nothing to interpret',
    marbles((m) => {
      const source = m.hot('   -A-B');
      const expected = '       -x-y';
      m.expectObservable(
        source.pipe(
          reduceWithEffects('', write, () => EMPTY),
          states,
        ),
      ).toBe(expected, { x: 'A', y: 'AB' });
    }),
  );
});
