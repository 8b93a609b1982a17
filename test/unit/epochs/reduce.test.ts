import { describe, expect, it } from 'vitest';
import type { RestartPolicy } from '../../../src/epochs/exits.ts';
import {
  type AgentEvent,
  type AgentState,
  type Effect,
  initialState,
  type Outcome,
  type Running,
} from '../../../src/epochs/model.ts';
import type { EpochConfig, Exit, Launch } from '../../../src/epochs/ports.ts';
import type { Reading } from '../../../src/streams/reading.ts';
import { reducer } from '../../../src/epochs/reducer.ts';
import { readingOf } from '../../../src/testing/reading.ts';

const clean: Exit = { kind: 'clean' };
const killed: Exit = { kind: 'signaled', signal: 'SIGKILL', tail: [] };
const failed: Exit = { kind: 'failed', code: 1, tail: [] };

const changed = (hash: string): AgentEvent => ({
  type: 'config-changed',
  reading: readingOf(hash),
});
const granted = (epoch: number): AgentEvent => ({ type: 'turn-granted', epoch, parent: 'live' });
const accepted = (hash: string): AgentEvent => ({
  type: 'config-accepted',
  hash,
  verdict: { kind: 'works' },
});
const refused = (hash: string): AgentEvent => ({ type: 'config-refused', hash, reason: 'expired' });
const live = (epoch: number): AgentEvent => ({ type: 'epoch-live', epoch });
const ended = (epoch: number, exit: Exit): AgentEvent => ({ type: 'epoch-exited', epoch, exit });
const byHand = (hash: string): AgentEvent => ({
  type: 'restart-requested',
  by: 'SIGHUP',
  reading: readingOf(hash),
});
const parentExpiring = (epoch: number): AgentEvent => ({ type: 'parent-expiring', epoch });
const parentExpired = (epoch: number): AgentEvent => ({ type: 'parent-expired', epoch });
const terminate: AgentEvent = { type: 'terminate-requested', by: 'SIGTERM' };
const due: AgentEvent = { type: 'retry-due' };
const drained: AgentEvent = { type: 'drained', active: 0 };

/** The events after which epoch 0 is LIVE with hash a. */
const serving = [changed('a'), granted(0), live(0)];
/** The events after which epoch 1 is starting with hash b beside epoch 0. */
const handingOver = [...serving, changed('b'), granted(1), accepted('b')];
/** The events after which epoch 1 is LIVE, and epoch 0 retires. */
const handedOver = [...handingOver, live(1)];

/** The events after which epoch 1 has failed beside epoch 0, and epoch 2 starts in its place. */
const poisoned = [...handingOver, ended(1, failed), granted(2), accepted('b')];
/** The events after which epoch 0 hands off, because there is no room for epoch 1 beside it. */
const replacing: readonly AgentEvent[] = [
  ...serving,
  changed('b'),
  granted(1),
  { type: 'config-accepted', hash: 'b', verdict: { kind: 'no-room', reason: 'memory' } },
];
/** The events after which epoch 3 starts beside epoch 0, in a lineage of its own. */
const sideBySide = [...poisoned, ended(2, failed)];

interface StatePart extends Partial<Omit<Running, 'phase'>> {
  readonly phase?: AgentState['phase'];
  readonly outcome?: Outcome;
}

interface Case {
  readonly what: string;
  readonly given: readonly AgentEvent[];
  readonly when: AgentEvent;
  /** The effects alone, each as its type and its subject. */
  readonly then: readonly string[];
  readonly state?: StatePart;
  readonly policy?: Partial<RestartPolicy>;
}

const launched = (launch: Launch): string => {
  const { epoch, restartEpoch, lineage } = launch;
  const hash = launch.adopted ? '' : launch.reading.hash;
  const sideBySide = !launch.adopted && launch.sideBySide;
  return `launch ${epoch} ${hash} as ${restartEpoch}${lineage === 0 ? '' : ` of lineage ${lineage}`}${sideBySide ? ' beside' : ''}`;
};

const brief = (effect: Effect): string => {
  switch (effect.type) {
    case 'await-turn':
      return `await-turn ${effect.epoch}${effect.parent === undefined ? '' : ` after ${effect.parent.epoch}`}`;
    case 'check':
      return `check ${effect.reading.hash}${effect.delay === 0 ? '' : ` after ${effect.delay}`}`;
    case 'launch':
      return launched(effect.launch);
    case 'retry':
      return `retry in ${effect.delay}`;
    case 'cancel-retry':
    case 'await-rescue':
    case 'cancel-rescue':
      return effect.type;
    case 'hand-off':
      return `hand-off ${effect.epoch} to a ${effect.to}`;
    case 'await-drained':
      return `await-drained beside ${effect.parents.join() || 'nobody'}`;
    default:
      return `${effect.type} ${effect.epoch}`;
  }
};

const run = ({ given, when, policy }: Case): readonly [AgentState, readonly Effect[]] => {
  const reduce = reducer({ onCrash: 'backoff', budget: 10, ...policy });
  return reduce(
    given.reduce<AgentState>((state, event) => reduce(state, event)[0], initialState),
    when,
  );
};

const check = (example: Case): void => {
  const [state, effects] = run(example);
  expect(effects.map(brief)).toEqual(example.then);
  expect(state).toMatchObject(example.state ?? {});
};

describe('a reading that is the same, with other facts', () => {
  const facts = readingOf('b', { kind: 'given', path: '/other.json', override: '' });
  const confirmed: AgentEvent = { type: 'config-confirmed', reading: facts };
  const waiting = [...serving, changed('b')];
  const claimed = (reading: Reading<EpochConfig>, stage: 'waiting') => ({
    claim: { epoch: 1, reading, stage, forced: false },
    wanted: facts,
  });

  it.each<Case>([
    {
      what: 'is what a claim that waits is for',
      given: waiting,
      when: confirmed,
      then: [],
      state: claimed(facts, 'waiting'),
    },
    {
      what: 'is not what a check under way is for, and is what the next epoch is for',
      given: [...waiting, granted(1)],
      when: confirmed,
      then: [],
      state: {
        claim: {
          epoch: 1,
          reading: readingOf('b'),
          stage: 'checking',
          forced: false,
          standalone: false,
          unchecked: 0,
        },
        wanted: facts,
      },
    },
    {
      what: 'is what a crashed Envoy is started again from',
      given: [...handedOver, parentExpired(1), ended(0, clean), confirmed, ended(1, killed), due],
      when: granted(2),
      then: ['check b'],
      state: {
        claim: {
          epoch: 2,
          reading: facts,
          stage: 'checking',
          forced: false,
          standalone: false,
          unchecked: 0,
        },
      },
    },
    {
      what: 'is nothing once there is a newer one',
      given: [...waiting, changed('c')],
      when: confirmed,
      then: [],
      state: { wanted: readingOf('c') },
    },
  ])('$what', check);
});

describe('a change', () => {
  it.each<Case>([
    {
      what: 'claims the first epoch',
      given: [],
      when: changed('a'),
      then: ['cancel-retry', 'await-turn 0'],
    },
    {
      what: 'is started unchecked if it is the first',
      given: [changed('a')],
      when: granted(0),
      then: ['launch 0 a as 0', 'follow 0'],
    },
    {
      what: 'claims the next epoch',
      given: serving,
      when: changed('b'),
      then: ['cancel-retry', 'await-turn 1 after 0'],
    },
    {
      what: 'is checked when it is its turn',
      given: [...serving, changed('b')],
      when: granted(1),
      then: ['check b'],
    },
    {
      what: 'is not checked at a turn that comes too late for another epoch',
      given: [...handedOver, changed('c'), ended(0, killed), accepted('c'), changed('d')],
      when: granted(2),
      then: [],
      state: { claim: { epoch: 3, reading: readingOf('d'), stage: 'waiting', forced: false } },
    },
    {
      what: 'is launched once accepted',
      given: [...serving, changed('b'), granted(1)],
      when: accepted('b'),
      then: ['launch 1 b as 1', 'follow 1'],
      state: { claim: undefined, lastEpoch: 1 },
    },
    {
      what: 'takes over a claim that waits',
      given: [...serving, changed('b')],
      when: changed('c'),
      then: [],
      state: { claim: { epoch: 1, reading: readingOf('c'), stage: 'waiting', forced: false } },
    },
    {
      what: 'is checked again if it comes during a check',
      given: [...serving, changed('b'), granted(1)],
      when: changed('c'),
      then: ['check c'],
    },
    {
      what: 'is not launched by an old verdict',
      given: [...serving, changed('b'), granted(1), changed('c')],
      when: accepted('b'),
      then: [],
    },
    {
      what: 'is not refused by an old verdict',
      given: [...serving, changed('b'), granted(1), changed('c')],
      when: refused('b'),
      then: [],
    },
    {
      what: 'is not a change if it is what runs',
      given: serving,
      when: changed('a'),
      then: ['cancel-retry'],
      state: { claim: undefined },
    },
    {
      what: 'is not a change if it is what comes up',
      given: handingOver,
      when: changed('b'),
      then: ['cancel-retry'],
      state: { claim: undefined },
    },
    {
      what: 'withdraws a claim when it flips back',
      given: [...serving, changed('b')],
      when: changed('a'),
      then: ['cancel-retry', 'withdraw-turn 1'],
      state: { claim: undefined },
    },
    {
      what: 'does not withdraw a restart by hand',
      given: [...serving, byHand('a')],
      when: changed('a'),
      then: [],
      state: { claim: { epoch: 1, reading: readingOf('a'), stage: 'waiting', forced: true } },
    },
    {
      what: 'refills the budget',
      given: [...serving, ended(0, killed)],
      when: changed('b'),
      then: ['cancel-retry', 'await-turn 1', 'await-rescue'],
      state: { crashes: 0 },
    },
    {
      what: 'forgets a refusal',
      given: [...serving, changed('b'), granted(1), refused('b')],
      when: changed('a'),
      then: ['cancel-retry'],
      state: { refused: undefined },
    },
    {
      what: 'is remembered but not acted on while draining',
      given: [...serving, terminate],
      when: changed('b'),
      then: [],
      state: { wanted: readingOf('b') },
    },
  ])('$what', check);
});

describe('a refusal', () => {
  const twice = [...serving, changed('b'), granted(1)];

  it.each<Case>([
    {
      what: 'is remembered, and the epoch that serves goes on',
      given: twice,
      when: refused('b'),
      then: ['retry in 30000'],
      state: { claim: undefined, refused: { hash: 'b', reason: 'expired' } },
    },
    {
      what: 'is looked at again after 30 s if no Envoy is alive',
      given: [...serving, ended(0, killed), due, granted(1)],
      when: refused('a'),
      then: ['retry in 30000', 'cancel-rescue'],
      state: { phase: 'running', claim: undefined },
    },
    {
      what: 'ends the agent if no Envoy has ever served',
      given: [changed('a'), granted(0), ended(0, killed), due, granted(1)],
      when: refused('a'),
      then: ['cancel-retry'],
      state: { phase: 'stopped', outcome: { kind: 'refused', reason: 'expired' } },
    },
    {
      what: 'is forgotten when a good one is launched',
      given: [...twice, refused('b'), changed('c'), granted(1)],
      when: accepted('c'),
      then: ['launch 1 c as 1', 'follow 1'],
      state: { refused: undefined },
    },
    {
      what: 'is nothing once the agent was asked to end',
      given: [...twice, terminate],
      when: refused('b'),
      then: [],
    },
  ])('$what', check);
});

describe('an exit', () => {
  it.each<Case>([
    { what: 'of an unknown epoch is nothing', given: serving, when: ended(7, killed), then: [] },
    {
      what: 'is retried',
      given: serving,
      when: ended(0, killed),
      then: ['retry in 200'],
      state: { crashes: 1 },
    },
    {
      what: 'ends the agent if the policy is exit',
      given: serving,
      when: ended(0, killed),
      then: ['cancel-retry'],
      state: { phase: 'stopped', outcome: { kind: 'envoy', exit: killed } },
      policy: { onCrash: 'exit' },
    },
    {
      what: 'ends the agent when the budget is spent',
      given: [...serving, ended(0, failed), due, granted(1), accepted('a'), live(1)],
      when: ended(1, killed),
      then: ['cancel-retry'],
      state: { phase: 'stopped', outcome: { kind: 'envoy', exit: killed } },
      policy: { budget: 1 },
    },
    {
      what: 'does not end the agent when the budget is spent but an older epoch serves',
      given: handingOver,
      when: ended(1, killed),
      then: ['follow 0'],
      state: { phase: 'running' },
      policy: { onCrash: 'exit' },
    },
    {
      what: 'of a parent that retires is nothing when its time is over',
      given: [...handedOver, parentExpired(1)],
      when: ended(0, killed),
      then: [],
      state: { phase: 'running', claim: undefined },
    },
    {
      what: 'of a parent that its child was about to tell to end is nothing either, if it is in order',
      given: [...handedOver, parentExpiring(1)],
      when: ended(0, clean),
      then: [],
      state: { phase: 'running', claim: undefined },
    },
    {
      what: 'of a parent in its last moments dooms its child if it is not in order',
      given: [...handedOver, parentExpiring(1)],
      when: ended(0, killed),
      then: ['cancel-retry', 'check b'],
    },
    ...[clean, killed].map((exit): Case => ({
      what: `of a parent before its time is over dooms its child (${exit.kind})`,
      given: handedOver,
      when: ended(0, exit),
      then: ['cancel-retry', 'check b'],
      state: {
        claim: {
          epoch: 2,
          reading: readingOf('b'),
          stage: 'checking',
          forced: true,
          standalone: true,
          unchecked: 0,
        },
      },
    })),
    {
      what: 'of a parent before its time dooms its child for good, so missing resources hold nothing up',
      given: [
        ...[...handedOver, ended(0, killed), parentExpiring(1), parentExpired(1)],
        { type: 'resources-known', missing: 'clusters' },
      ],
      when: accepted('b'),
      then: ['launch 2 b as 0 of lineage 1 beside', 'follow 2'],
    },
    {
      what: 'of a parent dooms a child that starts as well',
      given: handingOver,
      when: ended(0, killed),
      then: ['cancel-retry', 'check b', 'await-rescue'],
    },
    {
      what: 'of a parent makes a rescue of the claim that waits, which is not forgotten',
      given: [...handedOver, changed('c')],
      when: ended(0, killed),
      then: ['withdraw-turn 2', 'cancel-retry', 'check c'],
    },
    {
      what: 'of a child that starts is followed by another at once, without a crash',
      given: handingOver,
      when: ended(1, failed),
      then: ['follow 0', 'cancel-retry', 'await-turn 2 after 0'],
      state: { crashes: 0, retried: true },
    },
    {
      what: 'of a second child by 1 before LIVE is a poisoned parent’s doing',
      given: poisoned,
      when: ended(2, failed),
      then: ['follow 0', 'cancel-retry', 'launch 3 b as 0 of lineage 1 beside', 'follow 3'],
      state: { crashes: 0, lineage: 1 },
    },
    {
      what: 'of a second child that finds an address taken is a crash: a third one would find the same',
      given: poisoned,
      when: ended(2, { ...failed, addressTaken: ':80' }),
      then: ['follow 0', 'retry in 200'],
      state: { crashes: 1 },
    },
    {
      what: 'of a second child that may not bind an address is a crash too',
      given: poisoned,
      when: ended(2, { ...failed, addressDenied: ':80' }),
      then: ['follow 0', 'retry in 200'],
      state: { crashes: 1 },
    },
    {
      what: 'of a second child by a signal is a crash while the parent serves',
      given: poisoned,
      when: ended(2, killed),
      then: ['follow 0', 'retry in 200'],
    },
    {
      what: 'of an Envoy that may not be beside what serves drains that, and takes its place',
      given: sideBySide,
      when: ended(3, { kind: 'spawn-failed', reason: 'enable_reuse_port' }),
      then: ['follow 0', 'cancel-retry', 'hand-off 0 to a successor'],
      state: {
        claim: {
          epoch: 4,
          reading: readingOf('b'),
          stage: 'replacing',
          forced: true,
          standalone: true,
        },
      },
    },
    {
      what: 'of an Envoy beside one that serves is a crash otherwise',
      given: sideBySide,
      when: ended(3, failed),
      then: ['follow 0', 'retry in 200'],
      state: { phase: 'running' },
    },
    {
      what: 'of an Envoy beside one that does not serve makes that one end, too',
      given: [...sideBySide, { type: 'epoch-unresponsive', epoch: 0 }],
      when: ended(3, failed),
      then: ['follow 0', 'cancel-retry', 'stop 0'],
    },
    {
      what: 'of an Envoy that serves after a rescue, while the old one goes, is a crash',
      given: [...sideBySide, live(3)],
      when: ended(3, killed),
      then: ['follow 0', 'retry in 200'],
    },
    {
      what: 'of the old lineage is nothing after a rescue',
      given: [...sideBySide, live(3)],
      when: ended(0, killed),
      then: [],
      state: { claim: undefined },
    },
    {
      what: 'is not a crash while a change waits: the change is the answer to it',
      given: [...serving, changed('b')],
      when: ended(0, killed),
      then: ['await-rescue'],
      state: { phase: 'running', crashes: 0 },
    },
    {
      what: 'of a second child before LIVE leads to a rescue if the parent does not serve any more, whatever it ended with',
      given: [...handedOver, ended(1, killed), granted(2), accepted('b')],
      when: ended(2, killed),
      then: ['follow 0', 'cancel-retry', 'launch 3 b as 0 of lineage 1 beside', 'follow 3'],
    },
    {
      what: 'of what is replaced starts what replaces it',
      given: [...sideBySide, { type: 'epoch-unresponsive', epoch: 0 }, ended(3, failed)],
      when: ended(0, clean),
      then: ['launch 4 b as 0', 'follow 4'],
    },
    {
      what: 'of a first epoch with 1 is examined',
      given: [changed('a'), granted(0)],
      when: ended(0, failed),
      then: ['check a'],
      state: { examined: failed, crashes: 0 },
    },
    {
      what: 'of a first epoch that was examined in vain is a crash',
      given: [changed('a'), granted(0), ended(0, failed)],
      when: accepted('a'),
      then: ['retry in 200'],
      state: { examined: undefined },
    },
  ])('$what', check);
});

describe('an epoch', () => {
  it.each<Case>([
    {
      what: 'is waited for to be stable from LIVE on',
      given: [changed('a'), granted(0)],
      when: live(0),
      then: ['publish-admin 0', 'await-stable 0'],
      state: { served: true },
    },
    { what: 'comes up once', given: serving, when: live(0), then: ['publish-admin 0'] },
    {
      what: 'that is gone cannot be LIVE',
      given: [...serving, ended(0, killed)],
      when: live(0),
      then: [],
    },
    {
      what: 'that hangs is killed',
      given: serving,
      when: { type: 'epoch-hung', epoch: 0 },
      then: ['kill 0'],
    },
    {
      what: 'that is gone cannot hang',
      given: [...serving, ended(0, killed)],
      when: { type: 'epoch-hung', epoch: 0 },
      then: [],
    },
    {
      what: 'refills the budget when it is stable',
      given: [...serving, ended(0, killed), due, granted(1), accepted('a'), live(1)],
      when: { type: 'epoch-stable', epoch: 1 },
      then: [],
      state: { crashes: 0 },
    },
    {
      what: 'refills nothing when it is not the newest any more',
      given: [...poisoned, ended(2, killed), due, granted(3), accepted('b')],
      when: { type: 'epoch-stable', epoch: 0 },
      then: [],
      state: { crashes: 1, retried: true },
    },
    {
      what: 'exists without consequence',
      given: [changed('a'), granted(0)],
      when: { type: 'epoch-spawned', epoch: 0, pid: 7 },
      then: [],
    },
    {
      what: 'that never became LIVE is replaced side by side',
      given: [
        changed('a'),
        granted(0),
        changed('b'),
        { type: 'turn-granted', epoch: 1, parent: 'stuck' },
      ],
      when: accepted('b'),
      then: ['launch 1 b as 0 of lineage 1 beside', 'follow 1'],
    },
    {
      what: 'of another binary is started beside the one that serves',
      given: [...serving, changed('b'), granted(1)],
      when: { type: 'config-accepted', hash: 'b', verdict: { kind: 'works-alone' } },
      then: ['launch 1 b as 0 of lineage 1 beside', 'follow 1'],
    },
    {
      what: 'for which there is no room waits until the one that serves has no clients any more',
      given: [...serving, changed('b'), granted(1)],
      when: { type: 'config-accepted', hash: 'b', verdict: { kind: 'no-room', reason: 'memory' } },
      then: ['hand-off 0 to a successor'],
      state: {
        claim: {
          epoch: 1,
          reading: readingOf('b'),
          stage: 'replacing',
          forced: false,
          standalone: false,
        },
      },
    },
    {
      what: 'that replaces another one keeps its reading while a newer one is checked',
      given: replacing,
      when: changed('c'),
      then: ['check c'],
      state: {
        claim: {
          epoch: 1,
          reading: readingOf('b'),
          stage: 'replacing',
          forced: false,
          standalone: false,
        },
      },
    },
    {
      what: 'that replaces another one takes a newer reading that works',
      given: [...replacing, changed('c'), accepted('c')],
      when: ended(0, clean),
      then: ['launch 1 c as 0', 'follow 1'],
    },
    {
      what: 'that replaces another one is followed by a newer reading that was not accepted yet',
      given: [...replacing, changed('c'), refused('c')],
      when: ended(0, clean),
      then: ['launch 1 b as 0', 'follow 1', 'cancel-retry', 'await-turn 2 after 1'],
    },
    {
      what: 'that replaces another one takes no reading that was taken back',
      given: [...replacing, changed('c'), changed('b'), accepted('c')],
      when: ended(0, clean),
      then: ['launch 1 b as 0', 'follow 1'],
    },
    {
      what: 'that takes over side by side sends the clients of the other one away',
      given: sideBySide,
      when: live(3),
      then: ['publish-admin 3', 'await-stable 3', 'hand-off 0 to a neighbour'],
    },
    {
      what: 'that has no clients any more ends',
      given: [...sideBySide, live(3)],
      when: { type: 'epoch-handed-off', epoch: 0, unresponsive: false },
      then: ['stop 0'],
    },
    {
      what: 'that nobody can take the clients from is killed',
      given: [...sideBySide, live(3)],
      when: { type: 'epoch-handed-off', epoch: 0, unresponsive: true },
      then: ['kill 0'],
    },
    {
      what: 'that serves again cannot have been retired',
      given: serving,
      when: { type: 'epoch-handed-off', epoch: 0, unresponsive: false },
      then: [],
    },
    {
      what: 'is told to reopen its logs beside all others',
      given: handedOver,
      when: { type: 'reopen-requested' },
      then: ['reopen 0', 'reopen 1'],
    },
  ])('$what', check);

  it('serves or retires according to who is LIVE', () => {
    const [state] = run({ what: '', given: handingOver, when: live(1), then: [] });
    expect(
      [...state.epochs].map(([number, { stage, restartEpoch }]) => [number, stage, restartEpoch]),
    ).toEqual([
      [0, 'draining', 0],
      [1, 'live', 1],
    ]);
  });

  it('does not answer from the moment it is silent until it answers', () => {
    const silent: AgentEvent = { type: 'epoch-unresponsive', epoch: 0 };
    const [before] = run({ what: '', given: serving, when: silent, then: [] });
    const [after] = run({
      what: '',
      given: [...serving, silent],
      when: { type: 'epoch-answered', epoch: 0 },
      then: [],
    });
    expect([before.epochs.get(0)?.answering, after.epochs.get(0)?.answering]).toEqual([
      false,
      true,
    ]);
  });
});

/**
 * The events after which there is no room for an epoch beside a child that hung while it started.
 */
const crowdedOut: readonly AgentEvent[] = [
  ...[...serving, changed('b'), granted(1), accepted('b'), changed('c')],
  { type: 'turn-granted', epoch: 2, parent: 'stuck' },
  { type: 'config-accepted', hash: 'c', verdict: { kind: 'no-room', reason: 'memory' } },
];

describe('a request to terminate', () => {
  it.each<Case>([
    {
      what: 'drains the parent of a child that was killed and is not gone yet',
      given: crowdedOut,
      when: terminate,
      then: [
        'cancel-retry',
        'kill-unless-live 1',
        'ask-drain 0',
        'await-drained beside 1',
        'withdraw-turn 2',
      ],
    },
    {
      what: 'kills that child again, which cannot be told to end',
      given: [...crowdedOut, terminate],
      when: drained,
      then: ['cancel-retry', 'kill 1'],
    },
    {
      what: 'ends an agent without a process',
      given: [],
      when: terminate,
      then: ['cancel-retry'],
      state: { phase: 'stopped', outcome: { kind: 'asked' } },
    },
    {
      what: 'drains one epoch',
      given: serving,
      when: terminate,
      then: ['cancel-retry', 'ask-drain 0', 'await-drained beside nobody'],
      state: { phase: 'draining', terminations: 1 },
    },
    {
      what: 'drains the newest epoch beside its parent',
      given: handedOver,
      when: terminate,
      then: ['cancel-retry', 'ask-drain 1', 'await-drained beside 0'],
    },
    {
      what: 'withdraws a claim',
      given: [...serving, changed('b')],
      when: terminate,
      then: ['cancel-retry', 'ask-drain 0', 'await-drained beside nobody', 'withdraw-turn 1'],
      state: { phase: 'draining' },
    },
    {
      what: 'stops all when it is drained',
      given: [...handedOver, terminate],
      when: drained,
      then: ['cancel-retry', 'stop 1'],
      state: { phase: 'stopping', outcome: { kind: 'asked' } },
    },
    {
      what: 'stops a parent when its child is gone, which would miss it',
      given: [...handedOver, terminate, drained],
      when: ended(1, clean),
      then: ['stop 0'],
    },
    {
      what: 'drains and stops both lines of a rescue',
      given: [...sideBySide, live(3)],
      when: terminate,
      then: ['cancel-retry', 'ask-drain 0', 'ask-drain 3', 'await-drained beside nobody'],
    },
    {
      what: 'stops all when it comes again',
      given: [...handedOver, terminate],
      when: terminate,
      then: ['cancel-retry', 'stop 1'],
      state: { phase: 'stopping' },
    },
    {
      what: 'kills all when it comes a third time',
      given: [...handedOver, terminate, terminate],
      when: terminate,
      then: ['kill 0', 'kill 1'],
    },
    {
      what: 'kills nothing when it comes a second time after the drain',
      given: [...serving, terminate, drained],
      when: terminate,
      then: [],
    },
    {
      what: 'drains a child that becomes LIVE meanwhile',
      given: [...handingOver, terminate],
      when: live(1),
      then: ['publish-admin 1', 'ask-drain 1'],
    },
    {
      what: 'is done when the last process is gone',
      given: [...serving, terminate, drained],
      when: ended(0, clean),
      then: ['cancel-retry'],
      state: { phase: 'stopped', outcome: { kind: 'asked' } },
    },
    {
      what: 'makes a retry that is due too late',
      given: [...serving, terminate],
      when: due,
      then: [],
    },
    {
      what: 'makes a restart by hand too late',
      given: [...serving, terminate],
      when: byHand('a'),
      then: [],
    },
    {
      what: 'has to come before anything counts as drained',
      given: serving,
      when: drained,
      then: [],
      state: { phase: 'running' },
    },
  ])('$what', check);
});

/** The adoption of epoch 7 and its parent, which an earlier agent left running. */
const left: AgentEvent = {
  type: 'epochs-adopted',
  epochs: [
    { epoch: 6, restartEpoch: 2, lineage: 1, pid: 66 },
    { epoch: 7, restartEpoch: 3, lineage: 1, pid: 77 },
  ],
};
const takenOver = [left, live(7)];
const leave: AgentEvent = { type: 'leave-requested', by: 'SIGTERM' };

describe('an Envoy that was kept', () => {
  it.each<Case>([
    {
      what: 'is looked after, and its parent too',
      given: [],
      when: left,
      then: ['launch 6  as 2 of lineage 1', 'launch 7  as 3 of lineage 1', 'follow 7'],
      state: { lastEpoch: 7, lineage: 1, served: true },
    },
    {
      what: 'serves once it is seen LIVE',
      given: [left],
      when: live(7),
      then: ['publish-admin 7', 'await-stable 7'],
    },
    {
      what: 'is nobody if none was left',
      given: [],
      when: { type: 'epochs-adopted', epochs: [] },
      then: [],
      state: { lastEpoch: -1 },
    },
    {
      what: 'is the parent of the next epoch, whatever it was started from',
      given: takenOver,
      when: changed('a'),
      then: ['cancel-retry', 'await-turn 8 after 7'],
    },
    {
      what: 'is restarted after a check only',
      given: [...takenOver, changed('a')],
      when: granted(8),
      then: ['check a'],
    },
    {
      what: 'is hot-restarted',
      given: [...takenOver, changed('a'), granted(8)],
      when: accepted('a'),
      then: ['launch 8 a as 4 of lineage 1', 'follow 8'],
    },
    {
      what: 'goes on if the configuration is refused',
      given: [...takenOver, changed('a'), granted(8)],
      when: refused('a'),
      then: ['retry in 30000'],
      state: { phase: 'running', claim: undefined, refused: { hash: 'a', reason: 'expired' } },
    },
    {
      what: 'does not end with its parent, whose time nobody knows',
      given: takenOver,
      when: ended(6, clean),
      then: [],
    },
    {
      what: 'is started again when it crashes',
      given: [...takenOver, ended(6, clean)],
      when: ended(7, { kind: 'unknown', tail: [] }),
      then: ['retry in 200'],
    },
  ])('$what', check);
});

describe('an agent that leaves', () => {
  it.each<Case>([
    {
      what: 'tells nobody to end',
      given: serving,
      when: leave,
      then: [],
      state: { phase: 'stopped', outcome: { kind: 'asked' } },
    },
    {
      what: 'waits for no child',
      given: handingOver,
      when: leave,
      then: [],
      state: { phase: 'stopped' },
    },
    {
      what: 'leaves what drains',
      given: [...serving, { type: 'drain-requested' }],
      when: leave,
      then: [],
      state: { phase: 'stopped' },
    },
    {
      what: 'ends if there is no Envoy',
      given: [],
      when: leave,
      then: ['cancel-retry'],
      state: { phase: 'stopped' },
    },
    {
      what: 'ends with its Envoy if that was asked for before',
      given: [...serving, terminate],
      when: leave,
      then: ['cancel-retry', 'stop 0'],
      state: { phase: 'stopping' },
    },
  ])('$what', check);
});
