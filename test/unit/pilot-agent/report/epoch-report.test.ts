import { describe, expect, it } from 'vitest';
import { initialState, type Running } from '../../../../src/epochs/model.ts';
import { type EpochRecord, noTimeline } from '../../../../src/epochs/timeline.ts';
import { epochsReport } from '../../../../src/pilot-agent/report/epoch-report.ts';
import { epochTable } from '../../../../src/pilot-agent/report/epoch-table.ts';
import { readingOf } from '../../../../src/testing/reading.ts';

const crashed: EpochRecord = {
  ...{ epoch: 0, lineage: 0, hash: 'aaaaaaaa0000', why: 'first', changed: [], pid: 41 },
  ...{ launchedAt: 1_000, spawnedAt: 1_020, liveAt: 1_200, endedAt: 61_000 },
  exit: {
    kind: 'signaled',
    signal: 'SIGSEGV',
    tail: ['Caught Segmentation fault, suspect faulting address 0x0'],
  },
  isExpected: false,
};
const changed = [{ source: 'files', part: '/etc/certs/key.pem', from: 'serial 1', to: 'serial 2' }];
const serves: EpochRecord = {
  epoch: 1,
  lineage: 0,
  hash: 'bbbbbbbb0000',
  why: 'change',
  changed,
  pid: 42,
  launchedAt: 61_500,
  liveAt: 61_700,
};
const process = {
  hash: 'bbbbbbbb0000',
  restartEpoch: 0,
  lineage: 0,
  parentTime: 'over',
  stage: 'live',
  answering: true,
  pid: 42,
} as const;
const agent: Running = {
  ...initialState,
  lastEpoch: 1,
  epochs: new Map([[1, process]]),
  claim: {
    stage: 'fetching',
    epoch: 2,
    reading: readingOf('cccccccc0000'),
    forced: false,
    standalone: false,
  },
  missing: 'clusters of istiod:15012',
  refused: { hash: 'dddddddd0000', reason: 'a.yaml:1:1: no\nsecond line' },
};
const push = {
  at: '1970-01-01T00:01:05.000Z',
  secret: 'default',
  version: '0123',
  state: 'rejected',
  reason: 'no key',
} as const;
const report = epochsReport(
  agent,
  {
    ...noTimeline,
    epochs: [crashed, serves],
    stored: [{ confirmedAt: 0, from: 1_000, to: 2_000 }],
  },
  [push],
);

describe('the report of the epochs', () => {
  it('has times, durations, the cause, how an epoch ended, and its last words', () => {
    expect(report.epochs).toEqual([
      {
        ...{
          epoch: 0,
          state: 'ended',
          pid: 41,
          hash: 'aaaaaaaa',
          lineage: 0,
          why: 'first',
          changed: [],
        },
        launchedAt: '1970-01-01T00:00:01.000Z',
        spawnedAt: '1970-01-01T00:00:01.020Z',
        liveAt: '1970-01-01T00:00:01.200Z',
        endedAt: '1970-01-01T00:01:01.000Z',
        ...{ startMs: 200, lifeMs: 60_000 },
        exit: {
          kind: 'signaled',
          expected: false,
          signal: 'SIGSEGV',
          cause: 'Caught Segmentation fault, suspect faulting address 0x0',
          lastWords: ['Caught Segmentation fault, suspect faulting address 0x0'],
        },
      },
      {
        ...{
          epoch: 1,
          state: 'live',
          answering: true,
          pid: 42,
          hash: 'bbbbbbbb',
          lineage: 0,
          why: 'change',
          changed,
        },
        ...{
          launchedAt: '1970-01-01T00:01:01.500Z',
          liveAt: '1970-01-01T00:01:01.700Z',
          startMs: 200,
        },
      },
    ]);
  });

  it('has what comes next, what is refused, pushes, and when Envoy served what was stored; of a reading its hash alone', () => {
    expect(report).toMatchObject({
      next: { epoch: 2, stage: 'fetching', hash: 'cccccccc', missing: 'clusters of istiod:15012' },
      refused: { hash: 'dddddddd' },
      pushes: [push],
      stored: [
        {
          of: '1970-01-01T00:00:00.000Z',
          from: '1970-01-01T00:00:01.000Z',
          to: '1970-01-01T00:00:02.000Z',
        },
      ],
    });
    expect(Object.keys(report)).not.toContain('wanted');
  });

  it('is a table for a person', () => {
    expect(epochTable(report, 121_500)).toBe(
      [
        'EPOCH  STATE  PID  STARTED              LIVE AFTER  AGE   WHY                                                    END',
        '1      live   42   1970-01-01 00:01:01  200 ms      60 s  change: files /etc/certs/key.pem: serial 1 → serial 2',
        '0      ended  41   1970-01-01 00:00:01  200 ms      60 s  first                                                  crash: SIGSEGV',
        'next: epoch 2 is waiting for its configuration',
        'refused: dddddddd: a.yaml:1:1: no second line',
        'rejected 1970-01-01 00:01:05: secret default, version 0123: no key',
        'changes 0, windows 0, restarts 0, refusals 0, crashes 0, rescues 0, drains 0',
      ].join('\n'),
    );
  });
});
