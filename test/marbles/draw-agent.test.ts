import type { Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { Use } from '../../src/pilot-agent/sources/contribution.ts';
import { source } from '../../src/pilot-agent/sources/source.ts';
import { withFallback } from '../../src/pilot-agent/sources/with-fallback.ts';
import { drawAgent } from '../../src/testing/draw-agent.ts';
import { marbles } from '../../src/testing/marbles.ts';
import { play } from '../../src/testing/play.ts';

describe('drawAgent', () => {
  it('has an epoch for each content, and none for a content that is the same or can not be read', () => {
    drawAgent({ config: 'a 9s a 9s # 9s b' }).expectEpochs('a 37002ms b');
  });

  it('draws who serves, and the end', () => {
    drawAgent({ config: 'a', terminate: '10s t' }).expectServing('n 99ms 0 9899ms D 4999ms A');
  });

  it('throws an AssertionError with both diagrams', () => {
    expect(() => drawAgent({ config: 'a 15s b' }).expectEpochs('a 15s b')).toThrow(
      "epochs: expected 'a 15s b', but it is 'a 25s b'",
    );
  });

  it('has an epoch of each restart by hand', () => {
    drawAgent({ config: 'a', restart: '20s r' }).expectEpochs('a 19999ms a');
  });

  it('draws a source of a rule of its own', () => {
    drawAgent({
      config: 'a 4s b',
      minDelay: 0,
      source: (read) => source('mine', read, { every: 10_000 }),
    }).expectEpochs('a 9999ms b');
  });

  it('throws what the script does not have', () => {
    expect(() =>
      drawAgent({ config: 'a 15s b', processes: ['S'] }).expectEpochs('a 25s b'),
    ).toThrow('the script has no process 1');
  });

  it('has no epoch for what Envoy is told or pushed', () => {
    const as = (use: Use) => (read: () => Observable<string>, on$: Observable<unknown>) =>
      source('mine', read, { on$, as: use });
    drawAgent({ config: 'a 9s b', source: as('runtime') }).expectEpochs('a');
    drawAgent({ config: 'a 9s b', source: as('secret') }).expectEpochs('a');
    drawAgent({ config: 'a 9s b', source: as('merge') }).expectEpochs('a 19s b');
  });

  it('ends a parent 12 s after its child is LIVE, for which the next epoch waits', () => {
    const quick = { minDelay: 0, timing: { parentShutdown: 12_000 } };
    drawAgent({ config: 'a 9999ms b 4999ms c', ...quick }).expectEpochs('a 9999ms b 12099ms c');
  });

  it('says that a promise never resolves in virtual time', () => {
    const drawn = drawAgent({
      config: 'a',
      source: () => source('mine', () => Promise.resolve('a')),
    });
    expect(() => drawn.expectEpochs('a')).toThrow(
      'source mine: a promise never resolves in virtual time',
    );
  });

  it('draws two sources, each as it is read', () => {
    drawAgent({ config: 'a 9s b', beside: { other: 'x 99s y' } }).expectEpochs(
      '(ax) 18997ms (bx) 89996ms (by)',
    );
  });

  it('draws what two sources come to, by a rule', () => {
    const options = {
      keepLastOnError: false,
      pauses: { first: 1_000, longest: 1_000 },
      random: () => 0.5,
    };
    drawAgent({
      config: 'a 59s # 99s c',
      beside: { other: 'z' },
      source: (read, on$, { other }) => {
        const first = source('east', read, { on$, ...options });
        return other === undefined ? first : withFallback(first, source('west', other.read));
      },
    }).expectEpochs('a 69s z 99s c');
  });
});

describe('play', () => {
  it('names the stream that is not as it was drawn', () => {
    const failing = marbles((m) => {
      play(m, { lives: [], who$: m.cold('a-b'), what$: m.cold('-x') }, { who: 'a-b', what: '-y' });
    });
    expect(failing).toThrow(/what: 'y'/);
    expect(failing).not.toThrow(/who:/);
  });
});
