import type { Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { Use } from '../../src/sources/contribution.ts';
import { type Read, source } from '../../src/sources/source.ts';
import { drawAgent } from '../../src/testing/draw-agent.ts';

describe('drawAgent', () => {
  it('has an epoch for each content, and none for a content that is the same or can not be read', () => {
    drawAgent({ config: 'a 9s a 9s # 9s b' }).expectEpochs('a 37002ms b');
  });

  it('draws who serves, and the end', () => {
    drawAgent({ config: 'a', terminate: '10s t' }).expectServing('n 499ms 0 9499ms D 4999ms A');
  });

  it('throws an AssertionError with both diagrams', () => {
    expect(() => drawAgent({ config: 'a 15s b' }).expectEpochs('a 15s b')).toThrow("epochs: expected 'a 15s b', but it is 'a 25s b'");
  });

  it('has an epoch of each restart by hand', () => {
    drawAgent({ config: 'a', restart: '20s r' }).expectEpochs('a 19999ms a');
  });

  it('draws a source of a rule of its own', () => {
    drawAgent({ config: 'a 4s b', minDelay: 0, source: (read) => source('mine', read, { every: 10_000 }) }).expectEpochs('a 9999ms b');
  });

  it('throws what the script does not have', () => {
    expect(() => drawAgent({ config: 'a 15s b', processes: ['S'] }).expectEpochs('a 25s b')).toThrow('the script has no process 1');
  });

  it('has no epoch for what Envoy is told or pushed', () => {
    const as = (use: Use) => (read: Read, on$: Observable<unknown>) => source('mine', read, { on$, as: use });
    drawAgent({ config: 'a 9s b', source: as('runtime') }).expectEpochs('a');
    drawAgent({ config: 'a 9s b', source: as('secret') }).expectEpochs('a');
    drawAgent({ config: 'a 9s b', source: as('merge') }).expectEpochs('a 19s b');
  });
});
