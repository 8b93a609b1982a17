import { from, map, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { keepServed } from '../../../../src/pilot-agent/secrets/keep-served.ts';
import {
  type SecretAnswer,
  secretVersion,
  type SetReading,
} from '../../../../src/pilot-agent/secrets/secret.ts';

const versionOf = (roots: string) => secretVersion({ kind: 'roots', roots });
const read = (roots: string): SetReading => ({
  type: 'set',
  source: `file ${roots}`,
  set: { roots },
});
const refused: SetReading = { type: 'refused', source: 'file', reason: 'garbage' };
const pushed = (roots: string): SecretAnswer => ({ type: 'pushed', version: versionOf(roots) });
const accepted = (roots: string): SecretAnswer => ({ type: 'accepted', version: versionOf(roots) });
const rejected = (roots: string): SecretAnswer => ({
  type: 'rejected',
  version: versionOf(roots),
  reason: 'no',
});

/**
 * Returns each state as the offered and the served roots, the source, and the reason of a refusal.
 */
function states(...events: readonly (SetReading | SecretAnswer)[]): readonly string[] {
  const rootsOf = (secretSet: { readonly secret: object } | undefined) =>
    secretSet === undefined ? '-' : (secretSet.secret as { roots: string }).roots;
  let lines: readonly string[] = [];
  from(events)
    .pipe(
      keepServed('ROOTCA', 'roots'),
      map(
        ({ offered, served, refused: why, source }) =>
          `${rootsOf(offered)} ${rootsOf(served)} ${source}${why === undefined ? '' : `: ${why}`}`,
      ),
      toArray(),
    )
    .subscribe({ next: (all) => (lines = all), error: expect.unreachable });
  return lines;
}

const no = ': Envoy rejects it: no';

describe('what is served of a secret', () => {
  it('stays if a reading has roots that are refused, beside what is not', () => {
    const partly: SetReading = {
      type: 'set',
      source: 'file b',
      set: { roots: 'b' },
      refused: { roots: 'garbage' },
    };
    expect(states(read('a'), partly).at(-1)).toBe('a a file a: garbage');
  });

  it.each([
    {
      what: 'is what is read, as long as no Envoy asks',
      events: [read('a'), read('b')],
      last: 'b b file b',
    },
    {
      what: 'is what Envoy accepts',
      events: [read('a'), pushed('a'), accepted('a')],
      last: 'a a file a',
    },
    {
      what: 'is nothing once Envoy rejects the first, which another Envoy is offered still',
      events: [read('a'), pushed('a'), rejected('a')],
      last: `a - file a${no}`,
    },
    {
      what: 'stays what Envoy has accepted until it answers to the next',
      events: [read('a'), accepted('a'), read('b'), pushed('b')],
      last: 'b a file a',
    },
    {
      what: 'stays so if Envoy rejects the next, which nobody is offered then',
      events: [read('a'), accepted('a'), read('b'), pushed('b'), rejected('b')],
      last: `a a file a${no}`,
    },
    {
      what: 'is what Envoy accepts after that',
      events: [read('a'), accepted('a'), read('b'), rejected('b'), read('c'), accepted('c')],
      last: 'c c file c',
    },
    {
      what: 'is the first again if the file has it again',
      events: [read('a'), accepted('a'), read('b'), rejected('b'), read('a')],
      last: 'a a file a',
    },
    {
      what: 'is offered anew if it is written anew',
      events: [read('a'), accepted('a'), read('b'), rejected('b'), read('a'), read('b')],
      last: 'b b file b',
    },
    {
      what: 'stays rejected if it is read once more',
      events: [read('a'), accepted('a'), read('b'), rejected('b'), read('b')],
      last: `a a file a${no}`,
    },
    {
      what: 'stays rejected if an Envoy of another kind accepts it: else two of them would take turns',
      events: [read('a'), accepted('a'), read('b'), rejected('b'), accepted('b'), accepted('a')],
      last: `a a file a${no}`,
    },
    {
      what: 'has the flaw of a file that is refused after that',
      events: [read('a'), accepted('a'), read('b'), rejected('b'), refused],
      last: 'a a file a: garbage',
    },
    {
      what: 'is not touched by an answer to what came before',
      events: [read('a'), pushed('a'), read('b'), rejected('a')],
      last: 'b b file b',
    },
    {
      what: 'may be what came before, if that is accepted late',
      events: [read('a'), pushed('a'), read('b'), accepted('a'), rejected('b')],
      last: `a a file a${no}`,
    },
    {
      what: 'is not touched by an answer to what nobody knows',
      events: [read('a'), rejected('x'), accepted('y')],
      last: 'a a file a',
    },
  ])('$what', ({ events, last }) => {
    expect(states(...events).at(-1)).toBe(last);
  });

  it('is told only if something differs', () => {
    expect(states(read('a'), pushed('a'), accepted('a'), accepted('a'), read('a'))).toEqual([
      'a a file a',
    ]);
  });

  it('has no more of the reason of an Envoy than a thousand characters', () => {
    const long: SecretAnswer = {
      type: 'rejected',
      version: versionOf('a'),
      reason: 'x'.repeat(1_000_000),
    };
    expect(states(read('a'), long).at(-1)).toHaveLength(
      'a - file a: Envoy rejects it: '.length + 1_000,
    );
  });
});
