import { describe, expect, it } from 'vitest';
import { type AgentEvent, initialState } from '../../../../src/epochs/model.ts';
import type { Sources } from '../../../../src/pilot-agent/config/sources.ts';
import { keepLog } from '../../../../src/pilot-agent/run/keep-log.ts';
import { runStep } from '../../../../src/pilot-agent/run/run-step.ts';
import { firstView, type RunSign } from '../../../../src/pilot-agent/run/state/view.ts';
import { readingOf } from '../../../../src/testing/reading.ts';
import { configOf } from '../../../support/resolved.ts';

/**
 * Returns what a sign does to the log, in order: the event and component of a line, or the name of
 * the method that is called.
 */
function done(sign: RunSign): readonly string[] {
  const calls: string[] = [];
  const view = firstView({ config: configOf(), sources: {} as Sources }, 0);
  const event = { sign, at: 0 };
  keepLog(
    { value: event, before: view, state: runStep(view, event) },
    {
      write: ({ event, component }) => calls.push(`${event} of ${String(component)}`),
      level: (level) => calls.push(`level ${level}`),
      open: () => calls.push('open'),
      reopen: () => calls.push('reopen'),
    },
  );
  return calls;
}

function transition(event: AgentEvent): RunSign {
  return { type: 'transition', transition: { event, before: initialState, state: initialState } };
}

describe('the log', () => {
  it('has the lines of a sign, each with its component', () => {
    expect(done({ type: 'request-failed', path: '/drain', reason: 'no' })).toEqual([
      'status.request_failed of status',
    ]);
  });

  it('has the level that is asked for', () => {
    expect(done({ type: 'level-requested', level: 'debug' })).toEqual(['level debug']);
  });

  it('is not opened before the first Envoy is on its way', () => {
    expect(done(transition({ type: 'config-changed', reading: readingOf('a') }))).toEqual([
      'config.read of agent',
    ]);
    expect(done(transition({ type: 'epoch-spawned', epoch: 0, pid: 7 }))).toEqual([
      'epoch.started of agent',
      'open',
    ]);
  });

  it('is opened for a bug, whenever that comes', () => {
    expect(done({ type: 'bug', reason: 'no', stack: undefined, leaves: false })).toEqual([
      'agent.bug of agent',
      'open',
    ]);
  });

  it('opens its files anew when it is told to', () => {
    expect(done(transition({ type: 'reopen-requested' }))).toEqual([
      'log.reopened of agent',
      'reopen',
      'open',
    ]);
  });
});
