import { type SchedulerLike, Subject, Subscription } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { fairSlices } from '../../../src/operators/fair-slices.ts';

/**
 * Sets up streams whose values cost 10 ms each of slices of 20 ms, beside other work of the
 * program.
 */
function slicedStreams() {
  const clock = { ms: 0 };
  const actions: (() => void)[] = [];
  const scheduler = {
    now: () => clock.ms,
    schedule(act: () => void) {
      actions.push(act);
      return new Subscription();
    },
  } as unknown as SchedulerLike;
  const inSlices$ = fairSlices(20, scheduler);
  const emitted: string[] = [];
  const add = (name: string) => {
    const source$ = new Subject<string>();
    const subscription = source$.pipe(inSlices$).subscribe({
      next: (value) => {
        clock.ms += 10;
        emitted.push(`${name}${value}`);
      },
      complete: () => emitted.push(`${name}|`),
      error: (error: unknown) => emitted.push(`${name} ${String(error)}`),
    });
    return { source$, subscription };
  };
  /** Ends the turn of other work, and runs the scheduled actions. */
  const nextTurn = (): void => {
    for (const act of actions.splice(0)) act();
  };
  return { clock, emitted, add, nextTurn };
}

describe('fairSlices', () => {
  it('emits values at once while there is time, and again after other work', () => {
    const { emitted, add, nextTurn } = slicedStreams();
    const a = add('a');
    a.source$.next('1');
    a.source$.next('2');
    expect(emitted).toEqual(['a1', 'a2']);
    nextTurn();
    a.source$.next('3');
    expect(emitted).toEqual(['a1', 'a2', 'a3']);
  });

  it('lets values that come beyond the slice wait, in the order of their observables', () => {
    const { emitted, add, nextTurn } = slicedStreams();
    for (const name of ['a', 'b', 'c', 'd', 'e']) add(name).source$.next('1');
    expect(emitted).toEqual(['a1', 'b1']);
    nextTurn();
    expect(emitted).toEqual(['a1', 'b1', 'c1', 'd1']);
    const late = add('f');
    late.source$.next('1');
    expect(emitted).toHaveLength(4);
    nextTurn();
    expect(emitted).toEqual(['a1', 'b1', 'c1', 'd1', 'e1', 'f1']);
  });

  it('emits only the newest value of an observable that waits', () => {
    const { emitted, add, nextTurn } = slicedStreams();
    for (const name of ['a', 'b']) add(name).source$.next('1');
    const c = add('c');
    c.source$.next('1');
    c.source$.next('2');
    nextTurn();
    expect(emitted).toEqual(['a1', 'b1', 'c2']);
  });

  it('completes an observable after the value that waits, and errors at once', () => {
    const { emitted, add, nextTurn } = slicedStreams();
    for (const name of ['a', 'b']) add(name).source$.next('1');
    const [c, d] = [add('c'), add('d')];
    c.source$.next('1');
    c.source$.complete();
    d.source$.next('1');
    d.source$.error(new Error('bad'));
    expect(emitted.slice(2)).toEqual(['d Error: bad']);
    nextTurn();
    expect(emitted.slice(2)).toEqual(['d Error: bad', 'c1', 'c|']);
  });

  it('emits nothing for an observable that nobody subscribes to any more', () => {
    const { emitted, add, nextTurn } = slicedStreams();
    for (const name of ['a', 'b']) add(name).source$.next('1');
    const [c, d] = [add('c'), add('d')];
    c.source$.next('1');
    d.source$.next('1');
    c.subscription.unsubscribe();
    nextTurn();
    expect(emitted).toEqual(['a1', 'b1', 'd1']);
  });
});
