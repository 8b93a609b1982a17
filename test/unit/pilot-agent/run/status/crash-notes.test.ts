import { describe, expect, it } from 'vitest';
import type { EpochRecord } from '../../../../../src/epochs/timeline.ts';
import { crashNotes, withCrash } from '../../../../../src/pilot-agent/run/status/crash-notes.ts';

const minute = 60_000;
const lives: EpochRecord = {
  epoch: 0,
  lineage: 0,
  hash: 'a',
  why: 'again',
  changed: [],
  launchedAt: 0,
};
const record = (endedAt: number, more: Partial<EpochRecord> = {}): EpochRecord => ({
  ...lives,
  endedAt,
  isExpected: false,
  exit: {
    kind: 'signaled',
    signal: 'SIGSEGV',
    tail: ['Caught Segmentation fault, suspect faulting address 0x0', '#0: a'],
  },
  ...more,
});
const killed: EpochRecord['exit'] = {
  kind: 'signaled',
  signal: 'SIGKILL',
  tail: [],
  outOfMemory: true,
};
const waits = 'Envoy has crashed and waits to be started again';

describe('crashes', () => {
  it.each<readonly [what: string, epochs: readonly EpochRecord[], notes: readonly string[]]>([
    ['none', [lives], []],
    [
      'one',
      [record(minute)],
      [
        'Envoy has crashed once in the last 10 min: SIGSEGV: Caught Segmentation fault, suspect faulting address 0x0',
      ],
    ],
    [
      'several, with how the last one ended',
      [record(minute), record(3 * minute, { exit: killed }), record(2 * minute)],
      ['Envoy has crashed 3 times in the last 10 min: SIGKILL, out of memory'],
    ],
    [
      'those of long ago left out',
      [record(-7 * minute), record(minute, { exit: killed })],
      ['Envoy has crashed once in the last 10 min: SIGKILL, out of memory'],
    ],
    ['ends that were asked for left out', [record(minute, { isExpected: true })], []],
  ])('are a note, counted over ten minutes: %s', (_what, epochs, notes) => {
    expect(crashNotes({ epochs }, 4 * minute)).toEqual(notes);
  });

  it('are in the reason for not being ready, with how the last one ended', () => {
    expect(withCrash(waits, { epochs: [record(1), record(2, { exit: killed }), lives] })).toBe(
      `${waits}: SIGKILL, out of memory`,
    );
    expect(withCrash(waits, { epochs: [] })).toBe(waits);
    expect(withCrash('draining', { epochs: [record(1)] })).toBe('draining');
  });
});
