import { describe, it } from 'vitest';
import { fixedTiming } from '../../src/epochs/timing.ts';
import { type AgentState, initialState } from '../../src/epochs/model.ts';
import { notLive } from '../../src/pilot-agent/status/probe/liveness.ts';
import { marbles } from '../support/marbles/marbles.ts';

const serving = (answering: boolean): AgentState => ({
  ...initialState,
  epochs: new Map([
    [0, { hash: 'a', restartEpoch: 0, lineage: 0, parentTime: 'over', stage: 'live', answering }],
  ]),
});
/** n: no Envoy; a: it answers; s: it has been silent for 2 s. */
const states = { n: initialState, a: serving(true), s: serving(false) };
const reasons = { l: undefined, h: 'Envoy hangs' };

describe('unlive', () => {
  it(
    'says 30 s after the last answer that Envoy hangs, and takes it back when it answers or is gone',
    marbles((m) => {
      const state$ = m.hot('  n 4s a 10s s 40s a 10s s 30s n', states);
      //                                 [ 28s         ]    [ 28s ]
      const expected = '      l 42001ms h 12s l 38s h 2s l';
      m.expectObservable(notLive(state$, fixedTiming), '^ 3m !').toBe(expected, reasons);
    }),
  );

  it(
    'does not say so a moment too early, nor of silence that ends',
    marbles((m) => {
      const state$ = m.hot('  a 1s s 27998ms a 1s s 27998ms s', states);
      const expected = '      l';
      m.expectObservable(notLive(state$, fixedTiming), '^ 57s !').toBe(expected, reasons);
    }),
  );
});
