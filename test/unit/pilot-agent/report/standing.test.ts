import { describe, expect, it } from 'vitest';
import type { AgentReport } from '../../../../src/pilot-agent/report/agent-report.ts';
import { servingEpoch, standing } from '../../../../src/pilot-agent/report/standing.ts';
import { epochReport } from '../../../support/agent-report.ts';

const phases = [
  'running',
  'draining',
  'stopping',
  'stopped',
] as const satisfies readonly AgentReport['phase'][];
const findings: readonly AgentReport['ready'][] = [{ ok: true }, { ok: false, reason: 'why' }];

describe('how an agent stands', () => {
  it('is one text and one colour for each phase and readiness, which never contradict each other', () => {
    const all = phases.flatMap((phase) => findings.map((ready) => standing({ phase, ready })));
    expect(all.map(({ text }) => text)).toEqual([
      'ready',
      'not ready',
      'not ready: draining',
      'not ready: draining',
      'not ready: stopping',
      'not ready: stopping',
      'not ready: stopped',
      'not ready: stopped',
    ]);
    for (const { text, isReady, tone } of all)
      expect([isReady, tone === 'ok']).toEqual([text === 'ready', text === 'ready']);
  });
});

describe('the epoch that serves', () => {
  const epochs = (...states: readonly ReturnType<typeof epochReport>['state'][]) =>
    states.map((state, epoch) => epochReport(epoch, { state }));

  it.each([
    [['draining', 'live'], 1],
    [['live', 'starting'], 0],
    [['ended', 'draining', 'starting'], 1],
    [['ended', 'starting'], undefined],
    [['stopping'], undefined],
    [[], undefined],
  ] as const)('of %j is %s', (states, serving) => {
    expect(servingEpoch(epochs(...states))?.epoch).toBe(serving);
  });
});
