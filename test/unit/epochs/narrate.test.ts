import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AgentTransition } from '../../../src/epochs/agent.ts';
import { type AgentEvent, type AgentState, initialState } from '../../../src/epochs/model.ts';
import { narrate } from '../../../src/epochs/narrate.ts';
import type { Exit } from '../../../src/epochs/ports.ts';
import { reducer } from '../../../src/epochs/reducer.ts';
import { readingOf } from '../../../src/testing/reading.ts';

const reduce = reducer({ onCrash: 'backoff', budget: 10 });
const transition = (given: readonly AgentEvent[], event: AgentEvent): AgentTransition => {
  const before = given.reduce<AgentState>((state, past) => reduce(state, past)[0], initialState);
  return { event, before, state: reduce(before, event)[0] };
};

const a = 'aaaaaaaa0000';
const b = 'bbbbbbbb0000';
const changed = (hash: string): AgentEvent => ({
  type: 'config-changed',
  reading: readingOf(hash),
});
const granted = (epoch: number): AgentEvent => ({ type: 'turn-granted', epoch, parent: 'live' });
const stuck = (epoch: number): AgentEvent => ({ type: 'turn-granted', epoch, parent: 'stuck' });
const accepted = (hash: string): AgentEvent => ({
  type: 'config-accepted',
  hash,
  verdict: { kind: 'works' },
});
const refused = (hash: string): AgentEvent => ({ type: 'config-refused', hash, reason: 'expired' });
const uncheckedBy = (outOfMemory: boolean): AgentEvent => ({
  type: 'config-unchecked',
  hash: b,
  reason: 'killed',
  outOfMemory,
});
const uncheckedLine = (next: string) => ({
  level: 'warn',
  event: 'config.unchecked',
  msg: `the configuration could not be checked: ${next}`,
  hash: 'bbbbbbbb',
  reason: 'killed',
});
const live = (epoch: number): AgentEvent => ({ type: 'epoch-live', epoch });
const late = (epoch: number): AgentEvent => ({ type: 'epoch-late', epoch });
const silent = (epoch: number): AgentEvent => ({ type: 'epoch-unresponsive', epoch });
const ended = (epoch: number, exit: Exit): AgentEvent => ({ type: 'epoch-exited', epoch, exit });
const missing = (...files: readonly string[]): AgentEvent => ({
  type: 'files-awaited',
  missing: files,
});
const without: AgentEvent = { type: 'resources-known', missing: 'clusters of istiod:15012' };
const terminate: AgentEvent = { type: 'terminate-requested', by: 'SIGTERM' };
const leave: AgentEvent = { type: 'leave-requested', by: 'SIGTERM' };
const kept: AgentEvent = {
  type: 'epochs-adopted',
  epochs: [
    { epoch: 6, restartEpoch: 2, lineage: 1, pid: 66 },
    { epoch: 7, restartEpoch: 3, lineage: 1, pid: 77 },
  ],
};
const clean: Exit = { kind: 'clean' };
const killed: Exit = { kind: 'signaled', signal: 'SIGKILL', tail: ['bye'] };
const failed: Exit = { kind: 'failed', code: 3, tail: ['bye'] };

const claimed = [changed(a)];
const starting = [...claimed, granted(0)];
const serving = [...starting, live(0)];
const waiting = [...serving, changed(b)];
const checking = [...waiting, granted(1)];
const handingOver = [...checking, accepted(b)];
const handedOver = [...handingOver, live(1)];
const draining = [...serving, terminate];
const stopping = [...draining, terminate];

interface Case {
  readonly what: string;
  readonly given: readonly AgentEvent[];
  readonly when: AgentEvent;
  readonly lines: readonly Readonly<Record<string, unknown>>[];
}

const startedSilently = {
  level: 'warn',
  event: 'restart.scheduled',
  msg: 'Envoy is started again after a pause',
  attempt: 1,
  of: 10,
  delayMs: 200,
};
const started = { ...startedSilently, lastWords: 'bye' };
const hopeless = (epoch: number) => ({
  level: 'warn',
  event: 'epoch.standalone',
  msg: 'a hot restart is impossible: the epoch starts without a parent',
  epoch,
});
const rescued = (epoch: number) => ({
  level: 'warn',
  event: 'rescue.started',
  msg: 'rescue: the new epoch comes up beside the old one',
  epoch,
});
const nobody = { level: 'info', event: 'agent.stopped', msg: 'no Envoy is left' };

const cases: readonly Case[] = [
  {
    what: 'files that the first epoch waits for',
    given: [],
    when: missing('/certs/key.pem'),
    lines: [
      {
        level: 'info',
        event: 'files.awaited',
        msg: 'waiting for files or sources',
        missing: ['/certs/key.pem'],
      },
    ],
  },
  {
    what: 'all files that the agent waited for exist',
    given: [missing('/certs/key.pem')],
    when: missing(),
    lines: [
      { level: 'info', event: 'files.found', msg: 'all files that the agent waited for exist' },
    ],
  },
  {
    what: 'the files that were waited for have not come',
    given: [missing('/certs/key.pem')],
    when: changed(a),
    lines: [
      {
        level: 'warn',
        event: 'files.missing',
        msg: 'files are still missing: the agent goes on without them',
        missing: ['/certs/key.pem'],
      },
      { level: 'info', event: 'config.read', msg: 'configuration read', hash: 'aaaaaaaa' },
    ],
  },
  {
    what: 'the first reading',
    given: [],
    when: changed(a),
    lines: [{ level: 'info', event: 'config.read', msg: 'configuration read', hash: 'aaaaaaaa' }],
  },
  {
    what: 'a change',
    given: serving,
    when: changed(b),
    lines: [
      { level: 'info', event: 'config.changed', msg: 'configuration changed', hash: 'bbbbbbbb' },
      {
        level: 'debug',
        event: 'epoch.claimed',
        msg: 'new epoch is prepared',
        epoch: 1,
        hash: 'bbbbbbbb',
      },
    ],
  },
  {
    what: 'a change that says what it was: a file, a member, a certificate',
    given: serving,
    when: {
      type: 'config-changed',
      reading: {
        ...readingOf(b),
        changed: [
          { source: 'platform', part: '' },
          { source: 'configuration', part: 'discoveryAddress' },
          { source: 'files', part: '/certs/cert-chain.pem', from: 'serial 0A', to: 'serial 0B' },
          { source: 'files', part: '/certs/root-cert.pem', to: 'serial 01' },
        ],
      },
    },
    lines: [
      {
        level: 'info',
        event: 'config.changed',
        msg: 'configuration changed',
        hash: 'bbbbbbbb',
        changed: [
          'platform',
          'configuration discoveryAddress',
          'files /certs/cert-chain.pem: serial 0A → serial 0B',
          'files /certs/root-cert.pem: none → serial 01',
        ],
      },
      {
        level: 'debug',
        event: 'epoch.claimed',
        msg: 'new epoch is prepared',
        epoch: 1,
        hash: 'bbbbbbbb',
      },
    ],
  },
  {
    what: 'a reading that is the same',
    given: serving,
    when: { type: 'config-confirmed', reading: readingOf(a) },
    lines: [],
  },
  {
    what: 'a change while an epoch waits already',
    given: waiting,
    when: changed('cccccccc'),
    lines: [
      { level: 'info', event: 'config.changed', msg: 'configuration changed', hash: 'cccccccc' },
    ],
  },
  {
    what: 'a change that is taken back',
    given: waiting,
    when: changed(a),
    lines: [
      { level: 'info', event: 'config.changed', msg: 'configuration changed', hash: 'aaaaaaaa' },
      {
        level: 'info',
        event: 'epoch.withdrawn',
        msg: 'the new epoch is no longer needed',
        epoch: 1,
      },
    ],
  },
  {
    what: 'a restart by hand',
    given: serving,
    when: { type: 'restart-requested', by: 'SIGHUP', reading: readingOf(a) },
    lines: [
      {
        level: 'info',
        event: 'restart.requested',
        msg: 'restart requested',
        by: 'SIGHUP',
        hash: 'aaaaaaaa',
      },
      {
        level: 'debug',
        event: 'epoch.claimed',
        msg: 'new epoch is prepared',
        epoch: 1,
        hash: 'aaaaaaaa',
      },
    ],
  },
  {
    what: 'a drain by hand',
    given: serving,
    when: { type: 'drain-requested' },
    lines: [
      {
        level: 'info',
        event: 'drain.requested',
        msg: 'asked to drain: the agent goes on',
        active: [0],
      },
    ],
  },
  {
    what: 'a drain by hand that is one already',
    given: [...serving, { type: 'drain-requested' }],
    when: { type: 'drain-requested' },
    lines: [],
  },
  {
    what: 'a reopening',
    given: serving,
    when: { type: 'reopen-requested' },
    lines: [{ level: 'info', event: 'log.reopened', msg: 'log files are opened again' }],
  },
  { what: 'a turn', given: waiting, when: granted(1), lines: [] },
  {
    what: 'a turn after a parent that did not come up',
    given: waiting,
    when: stuck(1),
    lines: [
      {
        level: 'warn',
        event: 'epoch.not_live',
        msg: 'the epoch before is not LIVE after 20 s: the next one starts',
        epoch: 1,
      },
      hopeless(1),
    ],
  },
  {
    what: 'a check of another binary',
    given: checking,
    when: { type: 'config-accepted', hash: b, verdict: { kind: 'works-alone' } },
    lines: [
      {
        level: 'warn',
        event: 'envoy.replaced',
        msg: 'the running Envoy cannot be a parent: it has another hot restart version, or abstract sockets',
      },
      rescued(1),
    ],
  },
  {
    what: 'that resources are missing, which nobody waits for yet',
    given: serving,
    when: without,
    lines: [],
  },
  {
    what: 'a claim that waits for resources',
    given: [...serving, without, changed(b)],
    when: granted(1),
    lines: [
      {
        level: 'warn',
        event: 'epoch.awaits_resources',
        msg: 'new epoch waits for its configuration: the old one serves meanwhile',
        epoch: 1,
        missing: 'clusters of istiod:15012',
      },
    ],
  },
  {
    what: 'a newer reading for a claim that waits for them',
    given: [...serving, without, changed(b), granted(1)],
    when: changed('cccccccc'),
    lines: [
      { level: 'info', event: 'config.changed', msg: 'configuration changed', hash: 'cccccccc' },
    ],
  },
  {
    what: 'a child that waits for its configuration',
    given: handingOver,
    when: late(1),
    lines: [
      {
        level: 'warn',
        event: 'epoch.late',
        msg: 'new epoch waits for its configuration for 20 s: it is killed, and the old one serves',
        epoch: 1,
      },
    ],
  },
  { what: 'an Envoy that waits for it alone', given: starting, when: late(0), lines: [] },
  {
    what: 'the end of a child that was late',
    given: [...handingOver, late(1)],
    when: ended(1, killed),
    lines: [
      { level: 'info', event: 'epoch.ended', msg: 'epoch was ended', epoch: 1, signal: 'SIGKILL' },
    ],
  },
  {
    what: 'the silence of its parent',
    given: [...handingOver, late(1), ended(1, killed)],
    when: silent(0),
    lines: [],
  },
  {
    what: 'a long silence of its parent',
    given: [...handingOver, late(1), ended(1, killed)],
    when: { type: 'epoch-hung', epoch: 0 },
    lines: [],
  },
  {
    what: 'a check for which there is no room',
    given: checking,
    when: { type: 'config-accepted', hash: b, verdict: { kind: 'no-room', reason: 'memory' } },
    lines: [
      {
        level: 'warn',
        event: 'epoch.no_room',
        msg: 'there is no room for two Envoys: the old epoch is drained and ends before the new one starts',
        reason: 'memory',
      },
    ],
  },
  {
    what: 'an old check for which there is no room',
    given: serving,
    when: { type: 'config-accepted', hash: b, verdict: { kind: 'no-room', reason: 'memory' } },
    lines: [],
  },
  {
    what: 'the end of a child',
    given: handingOver,
    when: ended(1, failed),
    lines: [
      {
        level: 'error',
        event: 'epoch.failed',
        msg: 'epoch failed',
        epoch: 1,
        kind: 'failed',
        code: 3,
        tail: ['bye'],
      },
      {
        level: 'debug',
        event: 'epoch.claimed',
        msg: 'new epoch is prepared',
        epoch: 2,
        hash: 'bbbbbbbb',
      },
      { level: 'warn', event: 'epoch.retried', msg: 'the epoch is tried again at once' },
    ],
  },
  {
    what: 'a rescue',
    given: [...handingOver, ended(1, failed), granted(2), accepted(b)],
    when: ended(2, { ...failed, code: 1 }),
    lines: [
      {
        level: 'error',
        event: 'epoch.failed',
        msg: 'epoch failed',
        epoch: 2,
        kind: 'failed',
        code: 1,
        tail: ['bye'],
      },
      rescued(3),
    ],
  },
  {
    what: 'the end of the clients of an epoch that was replaced',
    given: [
      ...checking,
      { type: 'config-accepted', hash: b, verdict: { kind: 'works-alone' } },
      live(1),
    ],
    when: { type: 'epoch-handed-off', epoch: 0, unresponsive: false },
    lines: [
      {
        level: 'info',
        event: 'epoch.handed_off',
        msg: 'the epoch has no more clients: it ends',
        epoch: 0,
      },
    ],
  },
  {
    what: 'an epoch that was replaced and is silent',
    given: [
      ...checking,
      { type: 'config-accepted', hash: b, verdict: { kind: 'works-alone' } },
      live(1),
    ],
    when: { type: 'epoch-handed-off', epoch: 0, unresponsive: true },
    lines: [
      {
        level: 'warn',
        event: 'epoch.not_drained',
        msg: 'epoch does not answer and cannot be drained: it is killed',
        epoch: 0,
      },
    ],
  },
  {
    what: 'the last moments of a parent',
    given: handedOver,
    when: { type: 'parent-expiring', epoch: 1 },
    lines: [],
  },
  {
    what: 'the end of the time of a parent',
    given: handedOver,
    when: { type: 'parent-expired', epoch: 1 },
    lines: [],
  },
  {
    what: 'a check without a verdict',
    given: checking,
    when: uncheckedBy(false),
    lines: [uncheckedLine('it is checked again in 1 s')],
  },
  {
    what: 'the last check without a verdict',
    given: [...checking, ...Array.from({ length: 4 }, () => uncheckedBy(false))],
    when: uncheckedBy(false),
    lines: [uncheckedLine('the epoch starts without a check')],
  },
  {
    what: 'a check without a verdict for want of memory',
    given: checking,
    when: uncheckedBy(true),
    lines: [uncheckedLine('it is checked again in 60 s')],
  },
  { what: 'a verdict that nobody waits for', given: serving, when: uncheckedBy(false), lines: [] },
  {
    what: 'the same refusal once more',
    given: [...checking, refused(b), { type: 'retry-due' }, stuck(1)],
    when: refused(b),
    lines: [],
  },
  {
    what: 'the next look at a refusal',
    given: [...checking, refused(b)],
    when: { type: 'retry-due' },
    lines: [],
  },
  {
    what: 'the end of a refusal',
    given: [...checking, refused(b)],
    when: { type: 'config-changed', reading: readingOf(a) },
    lines: [
      { level: 'info', event: 'config.changed', msg: 'configuration changed', hash: 'aaaaaaaa' },
      {
        level: 'info',
        event: 'config.refusal_ended',
        msg: 'the configuration is no longer refused',
      },
    ],
  },
  {
    what: 'that nobody serves',
    given: [...checking, ended(0, killed)],
    when: { type: 'rescue-due' },
    lines: [
      { level: 'warn', event: 'rescue.unserved', msg: 'no Envoy serves: one is started at once' },
    ],
  },
  { what: 'that somebody serves again', given: serving, when: { type: 'rescue-due' }, lines: [] },
  { what: 'a turn that nobody waits for', given: serving, when: stuck(1), lines: [] },
  { what: 'a check', given: checking, when: accepted(b), lines: [] },
  {
    what: 'a refusal beside an old epoch',
    given: checking,
    when: refused(b),
    lines: [
      {
        level: 'error',
        event: 'config.refused',
        msg: 'configuration refused: the old epoch goes on',
        hash: 'bbbbbbbb',
        reason: 'expired',
      },
    ],
  },
  {
    what: 'a refusal of what is to follow a crash',
    given: [...serving, ended(0, failed), { type: 'retry-due' }, granted(1)],
    when: refused(a),
    lines: [
      {
        level: 'error',
        event: 'config.refused',
        msg: 'configuration refused',
        hash: 'aaaaaaaa',
        reason: 'expired',
      },
    ],
  },
  {
    what: 'a refusal of what the first Envoy ended of',
    given: [...starting, ended(0, { kind: 'failed', code: 1, tail: [] })],
    when: refused(a),
    lines: [
      {
        level: 'error',
        event: 'config.refused',
        msg: 'configuration refused',
        hash: 'aaaaaaaa',
        reason: 'expired',
      },
      nobody,
    ],
  },
  {
    what: 'a refusal of what is old by now',
    given: [...checking, changed('cccccccc')],
    when: refused(b),
    lines: [],
  },
  {
    what: 'a process',
    given: starting,
    when: { type: 'epoch-spawned', epoch: 0, pid: 4711 },
    lines: [{ level: 'info', event: 'epoch.started', msg: 'Envoy started', epoch: 0, pid: 4711 }],
  },
  {
    what: 'the first epoch LIVE',
    given: starting,
    when: live(0),
    lines: [{ level: 'info', event: 'epoch.live', msg: 'epoch is LIVE', epoch: 0 }],
  },
  {
    what: 'the next epoch LIVE',
    given: handingOver,
    when: live(1),
    lines: [{ level: 'info', event: 'epoch.live', msg: 'epoch is LIVE', epoch: 1, draining: [0] }],
  },
  { what: 'what is LIVE already', given: serving, when: live(0), lines: [] },
  {
    what: 'silence',
    given: serving,
    when: silent(0),
    lines: [
      {
        level: 'warn',
        event: 'epoch.unresponsive',
        msg: 'the admin endpoint is silent: not ready',
        epoch: 0,
      },
    ],
  },
  {
    what: 'the end of silence',
    given: [...serving, silent(0)],
    when: { type: 'epoch-answered', epoch: 0 },
    lines: [
      {
        level: 'info',
        event: 'epoch.answering',
        msg: 'the admin endpoint answers again',
        epoch: 0,
      },
    ],
  },
  {
    what: 'an answer without silence before',
    given: serving,
    when: { type: 'epoch-answered', epoch: 0 },
    lines: [],
  },
  {
    what: 'a hang',
    given: [...serving, silent(0)],
    when: { type: 'epoch-hung', epoch: 0 },
    lines: [{ level: 'error', event: 'epoch.hung', msg: 'Envoy hangs: it is killed', epoch: 0 }],
  },
  { what: 'a stable run', given: serving, when: { type: 'epoch-stable', epoch: 0 }, lines: [] },
  {
    what: 'the end of a parent before its time',
    given: handedOver,
    when: ended(0, clean),
    lines: [
      {
        level: 'warn',
        event: 'epoch.ended_early',
        msg: 'epoch ended before its time: its child cannot go on without it',
        epoch: 0,
      },
      {
        level: 'debug',
        event: 'epoch.claimed',
        msg: 'new epoch is prepared',
        epoch: 2,
        hash: 'bbbbbbbb',
      },
      hopeless(2),
    ],
  },
  {
    what: 'the end of a parent',
    given: [...handedOver, { type: 'parent-expiring', epoch: 1 }],
    when: ended(0, clean),
    lines: [{ level: 'info', event: 'epoch.ended', msg: 'epoch has drained and ended', epoch: 0 }],
  },
  {
    what: 'the clean end of the last epoch',
    given: serving,
    when: ended(0, clean),
    lines: [{ level: 'info', event: 'epoch.ended', msg: 'epoch ended', epoch: 0 }, nobody],
  },
  {
    what: 'a crash',
    given: serving,
    when: ended(0, failed),
    lines: [
      {
        level: 'error',
        event: 'epoch.failed',
        msg: 'epoch failed',
        epoch: 0,
        kind: 'failed',
        code: 3,
        tail: ['bye'],
      },
      started,
    ],
  },
  {
    what: 'the end of the first Envoy, whose refusal is told by the check that follows',
    given: starting,
    when: ended(0, {
      kind: 'failed',
      code: 1,
      tail: ['error initializing configuration: no', 'bye'],
    }),
    lines: [
      {
        level: 'error',
        event: 'epoch.failed',
        msg: 'epoch failed',
        epoch: 0,
        kind: 'failed',
        code: 1,
        tail: ['bye'],
      },
    ],
  },
  {
    what: 'a SIGKILL that nobody of us has sent',
    given: serving,
    when: ended(0, killed),
    lines: [
      {
        level: 'error',
        event: 'epoch.failed',
        msg: 'epoch failed',
        epoch: 0,
        kind: 'signaled',
        signal: 'SIGKILL',
        hint: 'may be out of memory',
        tail: ['bye'],
      },
      startedSilently,
    ],
  },
  {
    what: 'a SIGSEGV, by the line before the stack',
    given: serving,
    when: ended(0, {
      ...killed,
      signal: 'SIGSEGV',
      tail: ['Caught Segmentation fault, suspect faulting address 0x0', '#0: a'],
    }),
    lines: [
      {
        level: 'error',
        event: 'epoch.failed',
        msg: 'epoch failed',
        epoch: 0,
        kind: 'signaled',
        signal: 'SIGSEGV',
        tail: ['Caught Segmentation fault, suspect faulting address 0x0', '#0: a'],
      },
      { ...started, lastWords: 'Caught Segmentation fault, suspect faulting address 0x0' },
    ],
  },
  {
    what: 'the SIGKILL that ends a hang: no hint',
    given: [...serving, silent(0), { type: 'epoch-hung', epoch: 0 }],
    when: ended(0, killed),
    lines: [
      {
        level: 'error',
        event: 'epoch.failed',
        msg: 'epoch failed',
        epoch: 0,
        kind: 'signaled',
        signal: 'SIGKILL',
        tail: ['bye'],
      },
      startedSilently,
    ],
  },
  {
    what: 'a start that fails',
    given: starting,
    when: ended(0, { kind: 'spawn-failed', reason: 'ENOENT' }),
    lines: [
      {
        level: 'error',
        event: 'epoch.not_started',
        msg: 'Envoy could not be started',
        epoch: 0,
        kind: 'spawn-failed',
        reason: 'ENOENT',
      },
      { level: 'info', event: 'agent.stopped', msg: 'no Envoy is left' },
    ],
  },
  {
    what: 'the pause before a restart',
    given: [...serving, ended(0, failed)],
    when: { type: 'retry-due' },
    lines: [
      {
        level: 'debug',
        event: 'epoch.claimed',
        msg: 'new epoch is prepared',
        epoch: 1,
        hash: 'aaaaaaaa',
      },
    ],
  },
  {
    what: 'SIGTERM',
    given: serving,
    when: terminate,
    lines: [
      {
        level: 'info',
        event: 'termination.requested',
        msg: 'asked to end: draining',
        by: 'SIGTERM',
        active: [0],
      },
    ],
  },
  {
    what: 'SIGTERM before the first epoch',
    given: [],
    when: terminate,
    lines: [
      {
        level: 'info',
        event: 'termination.requested',
        msg: 'asked to end',
        by: 'SIGTERM',
        active: [],
      },
      nobody,
    ],
  },
  {
    what: 'SIGTERM while an epoch waits',
    given: waiting,
    when: terminate,
    lines: [
      {
        level: 'info',
        event: 'termination.requested',
        msg: 'asked to end: draining',
        by: 'SIGTERM',
        active: [0],
      },
      {
        level: 'info',
        event: 'epoch.withdrawn',
        msg: 'the new epoch is no longer needed',
        epoch: 1,
      },
    ],
  },
  {
    what: 'a second SIGTERM',
    given: draining,
    when: terminate,
    lines: [
      {
        level: 'info',
        event: 'termination.requested',
        msg: 'asked to end again: the drain is cut short',
        by: 'SIGTERM',
        active: [0],
      },
    ],
  },
  {
    what: 'a third SIGTERM',
    given: stopping,
    when: terminate,
    lines: [
      {
        level: 'info',
        event: 'termination.requested',
        msg: 'asked to end again: Envoy is killed',
        by: 'SIGTERM',
        active: [0],
      },
    ],
  },
  {
    what: 'a drain',
    given: draining,
    when: { type: 'drained', active: 0 },
    lines: [{ level: 'info', event: 'drain.ended', msg: 'drained', active: 0 }],
  },
  {
    what: 'a drain that was too short',
    given: draining,
    when: { type: 'drained', active: 2 },
    lines: [
      {
        level: 'warn',
        event: 'drain.ended',
        msg: 'drain time is over: requests in flight are cut',
        active: 2,
      },
    ],
  },
  {
    what: 'a drain of nobody knows what',
    given: draining,
    when: { type: 'drained', active: undefined },
    lines: [
      {
        level: 'warn',
        event: 'drain.ended',
        msg: 'drain time is over: the agent does not know what is still in flight',
      },
    ],
  },
  {
    what: 'a drain that is over already',
    given: stopping,
    when: { type: 'drained', active: 0 },
    lines: [],
  },
  {
    what: 'the end',
    given: stopping,
    when: ended(0, clean),
    lines: [{ level: 'info', event: 'epoch.ended', msg: 'epoch ended', epoch: 0 }, nobody],
  },
  {
    what: 'Envoys that an earlier agent has left',
    given: [],
    when: kept,
    lines: [
      {
        level: 'info',
        event: 'epoch.adopted',
        msg: 'an Envoy of an earlier agent is adopted',
        epoch: 6,
        pid: 66,
      },
      {
        level: 'info',
        event: 'epoch.adopted',
        msg: 'an Envoy of an earlier agent is adopted',
        epoch: 7,
        pid: 77,
      },
    ],
  },
  {
    what: 'the end of the agent alone',
    given: [kept],
    when: leave,
    lines: [
      {
        level: 'info',
        event: 'termination.requested',
        msg: 'asked to end',
        by: 'SIGTERM',
        active: [6, 7],
      },
      {
        level: 'info',
        event: 'epoch.left',
        msg: 'Envoy continues to serve without the agent',
        epoch: 6,
        pid: 66,
      },
      {
        level: 'info',
        event: 'epoch.left',
        msg: 'Envoy continues to serve without the agent',
        epoch: 7,
        pid: 77,
      },
    ],
  },
  {
    what: 'the end of the agent alone, without an Envoy',
    given: [],
    when: leave,
    lines: [
      {
        level: 'info',
        event: 'termination.requested',
        msg: 'asked to end',
        by: 'SIGTERM',
        active: [],
      },
      nobody,
    ],
  },
  {
    what: 'the end of the agent alone when both are to end',
    given: draining,
    when: leave,
    lines: [
      {
        level: 'info',
        event: 'termination.requested',
        msg: 'asked to end again: the drain is cut short',
        by: 'SIGTERM',
        active: [0],
      },
    ],
  },
  {
    what: 'an end of which nobody knows how',
    given: serving,
    when: ended(0, { kind: 'unknown', tail: ['bye'] }),
    lines: [
      {
        level: 'error',
        event: 'epoch.failed',
        msg: 'epoch failed',
        epoch: 0,
        kind: 'unknown',
        tail: ['bye'],
      },
      startedSilently,
    ],
  },
  {
    what: 'an end that was asked for, of which nobody knows how',
    given: stopping,
    when: ended(0, { kind: 'unknown', tail: ['bye'] }),
    lines: [{ level: 'info', event: 'epoch.ended', msg: 'epoch was ended', epoch: 0 }, nobody],
  },
  {
    what: 'the end by a signal that was sent',
    given: stopping,
    when: ended(0, { ...killed, signal: 'SIGTERM' }),
    lines: [
      { level: 'info', event: 'epoch.ended', msg: 'epoch was ended', epoch: 0, signal: 'SIGTERM' },
      nobody,
    ],
  },
];

describe('narrate', () => {
  it('has of an epoch that is LIVE its process, why it was started, and how long that took', () => {
    const record = {
      epoch: 0,
      lineage: 0,
      hash: a,
      why: 'first',
      changed: [],
      launchedAt: 1_000,
      pid: 4711,
      liveAt: 1_150,
    } as const;
    const lines = narrate(transition(starting, live(0)), [record], 10);
    expect(lines).toEqual([
      {
        level: 'info',
        event: 'epoch.live',
        msg: 'epoch is LIVE',
        epoch: 0,
        pid: 4711,
        why: 'first',
        startMs: 150,
      },
    ]);
    const adopted = narrate(transition(starting, live(0)), [{ ...record, why: 'adopted' }], 10);
    expect(adopted[0]).not.toHaveProperty('startMs');
  });

  it('has at most three lines for everybody of a hot restart: what has changed, LIVE, the end of the old epoch', () => {
    const events = [
      changed(b),
      granted(1),
      accepted(b),
      { type: 'epoch-spawned', epoch: 1, pid: 2 } as const,
      live(1),
      { type: 'parent-expiring', epoch: 1 } as const,
      { type: 'parent-expired', epoch: 1 } as const,
      ended(0, clean),
    ];
    const lines = events.flatMap((event, index) =>
      narrate(transition([...serving, ...events.slice(0, index)], event), [], 10),
    );
    expect(lines.filter(({ level }) => level !== 'debug').map(({ event }) => event)).toEqual([
      'config.changed',
      'epoch.live',
      'epoch.ended',
    ]);
  });

  it('says "no limit" if crashes have no budget', () => {
    expect(narrate(transition(serving, ended(0, killed)), [], 0)).toContainEqual(
      expect.objectContaining({ of: 'no limit' }),
    );
  });

  it.each(cases)('$what', ({ given, when, lines }) => {
    expect(narrate(transition(given, when), [], 10)).toStrictEqual(lines);
  });

  it('has a case above for each type of event', () => {
    const types: Readonly<Record<AgentEvent['type'], true>> = {
      'epochs-adopted': true,
      'files-awaited': true,
      'config-changed': true,
      'config-confirmed': true,
      'restart-requested': true,
      'terminate-requested': true,
      'leave-requested': true,
      'drain-requested': true,
      'reopen-requested': true,
      'resources-known': true,
      'epoch-late': true,
      'turn-granted': true,
      'config-accepted': true,
      'config-refused': true,
      'epoch-spawned': true,
      'epoch-live': true,
      'epoch-unresponsive': true,
      'epoch-answered': true,
      'epoch-hung': true,
      'epoch-stable': true,
      'config-unchecked': true,
      'rescue-due': true,
      'parent-expiring': true,
      'parent-expired': true,
      'epoch-handed-off': true,
      'epoch-exited': true,
      'retry-due': true,
      drained: true,
    };
    expect([...new Set(cases.map(({ when }) => when.type))].sort()).toEqual(
      Object.keys(types).sort(),
    );
  });

  it('puts what varies into fields: msg is one of a fixed set, whatever happens', () => {
    const fixedMessages = new Set(cases.flatMap(({ lines }) => lines.map(({ msg }) => msg)));
    const text = fc.string();
    const epoch = fc.nat({ max: 3 });
    const tail = fc.array(text);
    const exit: fc.Arbitrary<Exit> = fc.oneof(
      fc.record({ kind: fc.constant('clean' as const) }),
      fc.record({ kind: fc.constant('failed' as const), code: fc.nat(), tail }),
      fc.record({
        kind: fc.constant('signaled' as const),
        signal: fc.constantFrom<NodeJS.Signals[]>('SIGKILL', 'SIGSEGV', 'SIGTERM'),
        tail,
      }),
      fc.record({ kind: fc.constant('spawn-failed' as const), reason: text }),
      fc.record({ kind: fc.constant('unknown' as const), tail }),
    );
    const type = <T extends AgentEvent['type']>(name: T) => fc.constant(name);
    const event: fc.Arbitrary<AgentEvent> = fc.oneof(
      fc.record({
        type: fc.constantFrom('config-changed' as const, 'config-confirmed' as const),
        reading: text.map((hash) => readingOf(hash)),
      }),
      fc.record({
        type: type('restart-requested'),
        by: text,
        reading: text.map((hash) => readingOf(hash)),
      }),
      fc.record({
        type: type('config-changed'),
        reading: text.map((part) => ({
          ...readingOf('a'),
          changed: [{ source: 'files', part, to: part }],
        })),
      }),
      fc.record({
        type: type('config-accepted'),
        hash: text,
        verdict: fc.constant({ kind: 'works' as const }),
      }),
      fc.record({ type: type('config-refused'), hash: text, reason: text }),
      fc.record({ type: type('epoch-handed-off'), epoch, unresponsive: fc.boolean() }),
      fc.record({
        type: fc.constantFrom('terminate-requested' as const, 'leave-requested' as const),
        by: text,
      }),
      fc.record({
        type: fc.constantFrom(
          'drain-requested' as const,
          'reopen-requested' as const,
          'retry-due' as const,
        ),
      }),
      fc.record({
        type: type('turn-granted'),
        epoch,
        parent: fc.constantFrom('live' as const, 'gone' as const, 'stuck' as const),
      }),
      fc.record({ type: type('epoch-spawned'), epoch, pid: fc.nat() }),
      fc.record({
        type: fc.constantFrom(
          'epoch-live' as const,
          'epoch-unresponsive' as const,
          'epoch-answered' as const,
          'epoch-hung' as const,
          'epoch-stable' as const,
          'parent-expired' as const,
        ),
        epoch,
      }),
      fc.record({ type: type('epoch-exited'), epoch, exit }),
      fc.record({ type: type('drained'), active: fc.option(fc.nat(), { nil: undefined }) }),
    );
    const histories: readonly (readonly AgentEvent[])[] = [
      [],
      claimed,
      serving,
      waiting,
      checking,
      handingOver,
      handedOver,
      draining,
      stopping,
    ];
    fc.assert(
      fc.property(fc.constantFrom(...histories), event, (given, when) => {
        for (const { msg } of narrate(transition(given, when), [], 10))
          expect(fixedMessages).toContain(msg);
      }),
      { numRuns: 500 },
    );
  });

  it('changes nothing that it is shown', () => {
    const shown = transition(serving, terminate);
    const before: AgentState = structuredClone(shown.before);
    narrate(shown, [], 10);
    expect(shown.before).toEqual(before);
  });
});
