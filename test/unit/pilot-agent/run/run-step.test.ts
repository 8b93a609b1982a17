import { describe, expect, it } from 'vitest';
import { initialState } from '../../../../src/epochs/model.ts';
import type { Sources } from '../../../../src/pilot-agent/config/sources.ts';
import { runStep } from '../../../../src/pilot-agent/run/run-step.ts';
import {
  firstView,
  type RunSign,
  type RunView,
} from '../../../../src/pilot-agent/run/state/view.ts';
import { partFamilies } from '../../../../src/pilot-agent/report/agent-families.ts';
import { parts, troubleOf } from '../../../../src/pilot-agent/run/state/part.ts';
import { readingOf } from '../../../../src/testing/reading.ts';
import { configOf } from '../../../support/resolved.ts';

const before = firstView({ config: configOf(), sources: {} as Sources }, 0);
const failed: RunSign = {
  type: 'part-failed',
  part: 'sds',
  reason: 'no',
  stack: 'Error: no',
  delayMs: 200,
};

/** Makes a field throw when it is read. */
function unreadable<T extends object>(fields: T, field: string): T {
  return Object.defineProperty({ ...fields }, field, {
    enumerable: true,
    get: () => {
      throw new Error(`${field} cannot be read`);
    },
  });
}

const step = (view: RunView, sign: RunSign) => runStep(view, { sign, at: 0 });

describe('a step of a run', () => {
  it('counts the failures of a part, and says which, why, and when it is tried again', () => {
    const after = step(step(before, failed), failed);
    expect(after.failures).toEqual({ ...before.failures, sds: 2 });
    expect(after.lines).toEqual([
      {
        ...{
          level: 'error',
          event: 'part.failed',
          msg: 'a part of the agent failed, and is started again',
        },
        ...{ part: 'sds', reason: 'no', stack: 'Error: no', delayMs: 200 },
      },
    ]);
  });

  it('tells the end of an outage once, whether the source says so or a reading of all of them', () => {
    const away = step(before, {
      type: 'source-unreadable',
      source: 'map',
      reason: 'no',
      delayMs: 1_000,
    });
    const sourceRead = { type: 'source-read', source: 'map', hash: 'a' } as const;
    const contributions = [
      { source: 'map', use: 'merge', at: '', hash: 'a', content: '{}', trouble: undefined },
    ] as const;
    const config = {
      epoch: { kind: 'given', path: '/a', override: '' },
      validConfig: undefined,
      warnings: [],
      contributions,
    } as const;
    const read: RunSign = {
      type: 'read',
      reading: { hash: 'a', config, changed: [] },
      isNew: false,
      orderedBy: undefined,
    };
    const lines = (...signs: readonly RunSign[]) => {
      let view = away;
      return signs.flatMap((sign) =>
        (view = step(view, sign)).lines.flatMap(({ event, source }) =>
          source === 'map' ? [event] : [],
        ),
      );
    };
    expect(lines(sourceRead, read)).toEqual(['source.read_again']);
    expect(lines(read, sourceRead)).toEqual(['source.read_again']);
  });

  it('has no words of the step before', () => {
    expect(step(step(before, failed), { type: 'ready' }).lines).toEqual([]);
  });

  it('goes on if there are no words for what has happened', () => {
    const after = step(
      before,
      unreadable({ type: 'watch-failed' as const, path: '/a', reason: 'no' }, 'reason'),
    );
    expect(after.failures).toEqual({ ...before.failures, log: 1 });
    expect(after.lines).toMatchObject([
      { event: 'part.failed', part: 'log', reason: 'reason cannot be read', delayMs: 0 },
    ]);
    expect(step(after, failed).lines).toHaveLength(1);
  });

  it('goes on, with the state of the agent, if the past cannot be kept', () => {
    const state = { ...initialState, wanted: readingOf('a') };
    const event = unreadable({ type: 'files-awaited' as const, missing: [] }, 'type');
    const after = step(
      { ...before, past: unreadable(before.past, 'counters') },
      { type: 'transition', transition: { event, before: initialState, state } },
    );
    expect(after.agent).toBe(state);
    expect(after.failures).toEqual({ ...before.failures, timeline: 1, log: 1 });
    expect(after.lines).toMatchObject([{ part: 'timeline' }, { part: 'log' }]);
  });
});

it('the metric has each part from the start', () => {
  const [family] = partFamilies(before.failures);
  expect(family?.samples).toEqual(parts.map((part) => ({ labels: { part }, value: 0 })));
});

it.each([
  { thrown: new Error('no'), reason: 'no' },
  { thrown: 'a text', reason: 'a text' },
  { thrown: undefined, reason: 'undefined' },
  { thrown: Object.create(null) as unknown, reason: 'unknown' },
])('what has been thrown need not be an error: $reason', ({ thrown, reason }) => {
  expect(troubleOf(thrown).reason).toBe(reason);
});
