import { map, type Observable, scan, timer } from 'rxjs';
import { describe, it } from 'vitest';
import { inWindows, type WindowOptions } from '../../src/pilot-discovery/environment/window.ts';
import type { Changes } from '../../src/pilot-discovery/environment/changes.ts';
import { emptyStore, type Store } from '../../src/pilot-discovery/environment/store.ts';
import { marbles } from '../support/marbles/marbles.ts';

const defaults: WindowOptions = { after: 100, max: 10_000, endpoints: true, adaptive: false };

/**
 * Returns a store and its changes for each character. A letter changes the configuration, a digit
 * endpoints, and `n` nothing.
 */
function steps(source$: Observable<string>): Observable<readonly [Store, Changes]> {
  const classOf = (character: string): Changes['class'] =>
    /\d/.test(character) ? 'endpoints' : character === 'n' ? 'none' : 'config';
  return source$.pipe(
    scan((stores, character) => stores + character, ''),
    map((all) => {
      const last = all.slice(-1);
      return [
        emptyStore([all]),
        { class: classOf(last), keys: new Set(classOf(last) === 'none' ? [] : [last]) },
      ] as const;
    }),
  );
}

/** Returns the changed keys, then `/`, then the last change that the store contains. */
const shown = ([{ sources }, { keys }]: readonly [Store, Changes]) =>
  `${[...keys].sort().join('')}/${[...sources.keys()].join('').slice(-1)}`;

describe('inWindows', () => {
  it(
    'waits 100 ms after the last change of configuration, and 10 s at most',
    marbles((m) => {
      const source$ = m.hot('a 49ms b -');
      const expected = '     150ms x';
      m.expectObservable(steps(source$).pipe(inWindows(defaults), map(shown))).toBe(expected, {
        x: 'ab/b',
      });

      const steady$ = timer(0, 90).pipe(map(() => 'a'));
      m.expectObservable(steps(steady$).pipe(inWindows(defaults), map(shown)), '^ 15s !').toBe(
        '10s x',
        { x: 'a/a' },
      );
    }),
  );

  it(
    'waits 20 ms after the last change of endpoints, and 1 s at most, in a lane of their own',
    marbles((m) => {
      const source$ = m.hot('a 9ms 1 4ms 2 -');
      //                     [ 100 ms       ]
      const expected = '     35ms x 64ms y';
      m.expectObservable(steps(source$).pipe(inWindows(defaults), map(shown))).toBe(expected, {
        x: '12/2',
        y: 'a/2',
      });

      const steady$ = timer(0, 15).pipe(map(() => '1'));
      m.expectObservable(steps(steady$).pipe(inWindows(defaults), map(shown)), '^ 1500ms !').toBe(
        '1s x',
        { x: '1/1' },
      );
    }),
  );

  it(
    'lets changes of endpoints go at once if they are not to wait, but not those of configuration',
    marbles((m) => {
      const source$ = m.hot('a 9ms 1 9ms 2 -');
      const expected = '     10ms x 9ms y 79ms z';
      const at0 = { ...defaults, endpoints: false };
      m.expectObservable(steps(source$).pipe(inWindows(at0), map(shown))).toBe(expected, {
        x: '1/1',
        y: '2/2',
        z: 'a/2',
      });
    }),
  );

  it(
    'knows no change if there is none',
    marbles((m) => {
      const source$ = m.hot('n 9ms n --|');
      const expected = '     13ms |';
      m.expectObservable(steps(source$).pipe(inWindows(defaults), map(shown))).toBe(expected);
    }),
  );

  it(
    'is short after a second of silence, and longer with each window, if it adapts itself',
    marbles((m) => {
      const source$ = m.hot('a 49ms b 49ms c 99ms d 199ms e 199ms f 1999ms g -');
      const expected = '     10ms a 59ms b 69ms c 139ms d 219ms e 199ms f 1909ms g';
      m.expectObservable(
        steps(source$).pipe(
          inWindows({ ...defaults, adaptive: true }),
          map(([, { keys }]) => [...keys].join('')),
        ),
        '^ 4s !',
      ).toBe(expected);
    }),
  );
});
