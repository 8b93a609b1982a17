import { map, NEVER, type Observable, type ObservableInput, timer } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { PossibleChanges } from '../../src/streams/changed-entries.ts';
import type { TreePath } from '../../src/pilot-agent/sources/file-tree.ts';
import { lookedAt } from '../../src/pilot-agent/sources/files.ts';
import type { PathEvent } from '../../src/streams/watch-folders.ts';
import { at } from '../../src/testing/at.ts';
import { marbles } from '../support/marbles/marbles.ts';
import { signs } from '../support/marbles/told.ts';

const event: PathEvent = { folder: '/conf', name: 'a' };

/**
 * Returns a folder with one file, which differs at each look. A look at all files takes `took` ms.
 */
function folder(took = 0) {
  const looks: (readonly string[] | 'all')[] = [];
  function look({ entries }: PossibleChanges): ObservableInput<readonly TreePath[]> {
    looks.push(entries === 'all' ? 'all' : [...(entries.get('/conf') ?? [])]);
    const file = { digest: String(looks.length), bytes: undefined, flaw: undefined };
    const treePaths: readonly TreePath[] = [
      { path: '/conf', isFolder: true, files: new Map([['a', file]]) },
    ];
    return entries === 'all' && took > 0 ? timer(took).pipe(map(() => treePaths)) : [treePaths];
  }
  return {
    looks,
    signs: (event$: Observable<PathEvent>) => signs(lookedAt({ look, event$ }, { name: 'files' })),
  };
}

describe('files', () => {
  it('looks at what is named 5 ms after an event, and 250 ms after one that comes soon after a look', () => {
    const drawn = folder();
    marbles((m) => {
      // The watch begins at 500 ms; earlier events are lost.
      const event$ = m.cold(at({ '9.5s': 'e', '9.502s': 'e', '9.6s': 'e' }), { e: event });
      m.expectObservable(drawn.signs(event$), '^ 20s !').toBe(
        at({ '0s': 'r.x', '10.005s': '.x', '10.35s': '.x' }),
      );
    })();
    expect(drawn.looks).toEqual(['all', ['a'], ['a']]);
  });

  it('looks at all a minute after the last look', () => {
    const drawn = folder();
    marbles((m) => {
      m.expectObservable(drawn.signs(m.cold('29.5s e', { e: event })), '^ 100s !').toBe(
        at({ '0s': 'r.x', '30.005s': '.x', '90.01s': '.x' }),
      );
    })();
    expect(drawn.looks).toEqual(['all', ['a'], 'all']);
  });

  it('looks at all less often if a look takes long: half a thousandth of the time', () => {
    const drawn = folder(100);
    marbles((m) => {
      m.expectObservable(drawn.signs(m.cold('9.5s e', { e: event })), '^ 300s !').toBe(
        at({ '0s': 'r', '100ms': '.x', '10.005s': '.x', '210.11s': '.x' }),
      );
    })();
    expect(drawn.looks).toEqual(['all', ['a'], 'all']);
  });

  it('looks at all within an hour even if the last look took very long', () => {
    const drawn = folder(30_000);
    marbles((m) => {
      m.expectObservable(drawn.signs(NEVER), '^ 3700s !').toBe(
        at({ '0s': 'r', '30s': '.x', '3660.005s': '.x' }),
      );
    })();
    expect(drawn.looks).toEqual(['all', 'all']);
  });
});
