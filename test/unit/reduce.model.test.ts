import fc from 'fast-check';
import { describe, it } from 'vitest';
import { type AgentEvent, type AgentState, type Effect, type Epoch, initialState, claimOf } from '../../src/agent/model.ts';
import type { RestartPolicy } from '../../src/agent/exits.ts';
import { newestEpoch } from '../../src/agent/lineage.ts';
import { reducer } from '../../src/agent/reducer.ts';
import { readingOf } from '../support/reading.ts';
import type { Exit } from '../../src/agent/ports.ts';

/** A turn that an effect has asked for. It hears of exits from the time on when it comes first. */
interface Turn {
  readonly order: Extract<Effect, { type: 'await-turn' }>;
  readonly heard: Set<number>;
}

/** What the interpreter owes: what may still happen because of the effects so far. */
interface World {
  readonly alive: Set<number>;
  turns: readonly Turn[];
  check: string | undefined;
  retry: boolean;
  rescue: boolean;
  followed: { readonly epoch: number; live: boolean; unresponsive: boolean; hung: boolean } | undefined;
  stable: number | undefined;
  /** Whose parent has so much time left. */
  weaning: { readonly epoch: number; readonly isExpiring: boolean } | undefined;
  readonly retiring: Set<number>;
  /** Were told to end, or are killed. */
  readonly ordered: Set<number>;
  draining: boolean;
}

/** What a run of the agent looks like at one point. */
interface Moment {
  readonly state: AgentState;
  readonly before: AgentState;
  readonly event: AgentEvent;
  readonly effects: readonly Effect[];
  readonly world: World;
  /** Processes that existed when the event came, without the one whose end it is. */
  readonly survivors: ReadonlySet<number>;
  readonly policy: RestartPolicy;
}

/** A promise: undefined while it is kept, otherwise what is wrong. */
type Promised = (moment: Moment) => string | undefined | false;

/** The processes that are started, without those that were taken over. */
const launches = (effects: readonly Effect[]) => of(effects, 'launch').flatMap(({ launch }) => (launch.adopted ? [] : [launch]));

const of = <T extends Effect['type']>(effects: readonly Effect[], type: T) =>
  effects.filter((effect): effect is Extract<Effect, { type: T }> => effect.type === type);

const linesWith = ({ epochs }: AgentState, has: (epoch: Epoch) => boolean): readonly number[] =>
  [...epochs.values()].filter(has).map(({ lineage }) => lineage);

const isStandalone = (state: AgentState): boolean => {
  const claim = claimOf(state);
  return claim !== undefined && claim.stage !== 'waiting' && claim.standalone;
};

/** The newest epoch was the child of the one that is gone, and its time was not over. */
const isDoomed = (before: AgentState, gone: number, exit: Exit, survivors: ReadonlySet<number>): boolean => {
  const parent = before.epochs.get(gone);
  const child = newestEpoch(before);
  if (parent === undefined || child === undefined || child.number === gone || !survivors.has(child.number)) return false;
  const related = child.lineage === parent.lineage && child.lineage === before.lineage && child.restartEpoch === parent.restartEpoch + 1;
  const isTold = child.parentTime === 'ending' && exit.kind === 'clean';
  return related && !isTold && child.parentTime !== 'over' && (child.stage === 'starting' || child.stage === 'live');
};

const outstanding = ({ turns, check, retry }: World): boolean => turns.length > 0 || check !== undefined || retry;

const promises: Record<string, Promised> = {
  'launches epochs by growing numbers': ({ before, effects }) =>
    launches(effects).some(({ epoch }) => epoch !== before.lastEpoch + 1) && 'an epoch number was not the next',

  'tells an epoch to be its living parent’s next, or 0 without one': ({ before, effects, survivors }) =>
    launches(effects).some(({ restartEpoch, lineage }) => {
      const parent = [...before.epochs].findLast(([number, epoch]) => survivors.has(number) && epoch.lineage === lineage)?.[1];
      return restartEpoch !== (parent === undefined ? 0 : parent.restartEpoch + 1);
    }) && 'a wrong restart epoch',

  'starts one epoch of a line at a time': ({ state }) =>
    linesWith(state, ({ stage }) => stage === 'starting').some((line, index, all) => all.indexOf(line) !== index) &&
    'two epochs of a line are starting',

  'has two lines at most that are not told to end': ({ state }) =>
    new Set(linesWith(state, ({ stage }) => stage !== 'stopping')).size > 2 && 'three lines',

  'has an admin endpoint apart exactly where another line is': ({ state, effects }) =>
    launches(effects).some(
      (launch) => launch.sideBySide !== [...state.epochs.values()].some((epoch) => epoch.lineage !== launch.lineage),
    ) && 'a wrong place for the admin endpoint',

  'starts no child of a parent whose listeners it has closed': ({ before, effects }) =>
    launches(effects).some(({ lineage, restartEpoch }) => restartEpoch > 0 && lineage !== before.lineage) &&
    'a child of a lineage that goes',

  'spends no budget on a rescue': ({ before, state }) =>
    state.lineage > before.lineage && state.crashes > before.crashes && 'a crash was counted',

  'tries again without a pause once, until an Envoy is stable or something changes': ({ before, event, effects, state, policy }) =>
    before.retried &&
    state.retried &&
    event.type === 'epoch-exited' &&
    state.lineage === before.lineage &&
    claimOf(before) === undefined &&
    of(effects, 'await-turn').length > 0 &&
    `again, without a pause (${policy.onCrash})`,

  'leaves the child of a parent that died early to its end no longer than it must': ({ before, event, state, survivors }) =>
    state.phase === 'running' &&
    event.type === 'epoch-exited' &&
    isDoomed(before, event.epoch, event.exit, survivors) &&
    !isStandalone(state) &&
    claimOf(state)?.stage !== 'replacing' &&
    'nobody comes to the rescue',

  'claims no child of an Envoy whose parent has died early': ({ before, state }) => {
    const newest = newestEpoch(state, state.lineage);
    if (newest === undefined || newest.parentTime === 'over' || newest.stage === 'draining' || newest.stage === 'stopping') return false;
    const hasParent = [...state.epochs.values()].some(
      ({ lineage, restartEpoch }) => lineage === newest.lineage && restartEpoch === newest.restartEpoch - 1,
    );
    const fresh = claimOf(state) !== undefined && claimOf(before) === undefined;
    return !hasParent && fresh && !isStandalone(state) && 'a claim that waits for it';
  },

  'has told to end whoever is the first that has to': ({ state, world }) =>
    linesWith(state, ({ stage }) => stage === 'stopping').some((line) => !world.ordered.has(newestEpoch(state, line)?.number ?? -1)) &&
    'nobody tells a line to end',

  'sends the clients of all other lines away once the newest one serves': ({ state, world }) =>
    state.phase === 'running' &&
    newestEpoch(state, state.lineage)?.stage === 'live' &&
    [...state.epochs].some(
      ([number, { lineage, stage }]) =>
        lineage !== state.lineage && stage !== 'stopping' && newestEpoch(state, lineage)?.number === number && !world.retiring.has(number),
    ) &&
    'two lines serve for good',

  'starts nothing once it was asked to end, or ends': ({ before, effects }) =>
    (before.terminations > 0 || before.phase !== 'running') && of(effects, 'launch').length > 0 && 'launched nevertheless',

  'knows which processes exist': ({ state, world }) =>
    String([...state.epochs.keys()]) !== String([...world.alive]) && `alive are ${[...world.alive].join()}`,

  'has stopped only when no process exists, or leaves them alone': ({ state, event, world }) =>
    state.phase === 'stopped' && world.alive.size > 0 && event.type !== 'leave-requested' && 'stopped with a process alive',

  'has stopped when it was asked to and no process exists': ({ state, world }) =>
    state.terminations > 0 && world.alive.size === 0 && state.phase !== 'stopped' && 'not stopped',

  'stops, kills and signals only what exists': ({ effects, survivors }) =>
    [...of(effects, 'stop'), ...of(effects, 'kill'), ...of(effects, 'reopen')].some(({ epoch }) => !survivors.has(epoch)) &&
    'an order to a process that is gone',

  'counts no more crashes than its budget': ({ state, policy: { budget } }) =>
    budget > 0 && state.crashes > budget && `${state.crashes} crashes`,

  'never dies: without an Envoy that serves or starts, something is on its way': ({ state, world }) =>
    state.phase === 'running' &&
    state.wanted !== undefined &&
    ![...state.epochs.values()].some(({ stage }) => stage === 'starting' || stage === 'live') &&
    !(
      claimOf(state)?.stage === 'replacing' &&
      [...state.epochs].some(([number, { stage }]) => stage === 'stopping' || world.retiring.has(number))
    ) &&
    !outstanding(world) &&
    'nothing will ever happen',

  'has an Envoy that serves or comes up, or starts one in a moment': ({ state, world }) => {
    if (state.phase !== 'running' || !state.served || state.wanted === undefined) return false;
    const comesUp = [...state.epochs.values()].some(({ stage, answering, lostChild, lineage, restartEpoch, parentTime }) => {
      const parent = [...state.epochs.values()].find((other) => other.lineage === lineage && other.restartEpoch === restartEpoch - 1);
      return (
        (stage === 'live' && (answering || lostChild !== true)) || (stage === 'starting' && (parent !== undefined || parentTime === 'over'))
      );
    });
    return !comesUp && !world.retry && !world.rescue && claimOf(state)?.stage !== 'replacing' && 'nobody serves, and nobody sees to it';
  },

  'has started one when nobody has served for a moment': ({ before, event, effects, world }) =>
    event.type === 'rescue-due' && before.phase === 'running' && launches(effects).length === 0 && world.rescue && 'nothing was started',

  'takes no check without a verdict for a refusal': ({ before, event, state }) =>
    event.type === 'config-unchecked' &&
    before.phase === 'running' &&
    before.claim?.stage === 'checking' &&
    before.claim.reading.hash === event.hash &&
    (state.refused !== before.refused || (claimOf(state) === undefined && state.lastEpoch === before.lastEpoch)) &&
    'the change is forgotten',

  'does not end with an Envoy that has handed over': ({ before, event, state }) =>
    before.phase === 'running' &&
    event.type === 'epoch-exited' &&
    before.epochs.get(event.epoch)?.stage === 'draining' &&
    state.phase !== 'running' &&
    'ended with a retiring Envoy',

  'waits for what it claims': ({ state, world }) => {
    const claim = claimOf(state);
    if (state.phase === 'running' && state.examined !== undefined && world.check === undefined) return 'examines without a check';
    switch (claim?.stage) {
      case 'waiting':
        return !world.turns.some(({ order }) => order.epoch === claim.epoch) && 'no turn is outstanding';
      case 'checking':
        return world.check !== claim.reading.hash && 'no check of it is outstanding';
      case 'replacing':
        return world.alive.size === 0 && 'nothing is left to be replaced';
      default:
        return false;
    }
  },

  'has no turn waiting behind another': ({ world }) => world.turns.length > 1 && 'two turns are outstanding',

  'watches the newest epoch that exists, while it runs': ({ state, world }) => {
    const newest = newestEpoch(state);
    const watched = newest === undefined || newest.stage === 'stopping' || world.followed?.epoch === newest.number;
    return state.phase === 'running' && !watched && 'nobody looks at the newest epoch';
  },
};

/** Takes over what effects ask for, as the interpreter does. */
const carryOut = (world: World, effects: readonly Effect[]): void => {
  for (const effect of effects) {
    switch (effect.type) {
      case 'await-turn':
        world.turns = [...world.turns, { order: effect, heard: new Set() }];
        break;
      case 'withdraw-turn':
        world.turns = world.turns.filter(({ order }, index) => index > 0 || order.epoch !== effect.epoch);
        world.check = undefined;
        break;
      case 'check':
        world.check = effect.reading.hash;
        break;
      case 'launch':
        world.alive.add(effect.launch.epoch);
        break;
      case 'follow':
        world.followed = { epoch: effect.epoch, live: false, unresponsive: false, hung: false };
        break;
      case 'await-stable':
        world.stable = effect.epoch;
        break;
      case 'await-parent-expiry':
        world.weaning = { epoch: effect.epoch, isExpiring: false };
        break;
      case 'hand-off':
        world.retiring.add(effect.epoch);
        break;
      case 'stop':
      case 'kill':
        world.ordered.add(effect.epoch);
        break;
      case 'retry':
        world.retry = true;
        break;
      case 'cancel-retry':
        world.retry = false;
        break;
      case 'await-rescue':
        world.rescue = true;
        break;
      case 'cancel-rescue':
        world.rescue = false;
        break;
      case 'await-drained':
        world.draining = true;
        break;
      default:
        break; // reopen and ask-drain may or may not have a consequence
    }
  }
};

/** Settles what an event pays off. */
const settle = (world: World, event: AgentEvent): void => {
  const { followed } = world;
  switch (event.type) {
    case 'turn-granted':
      world.turns = world.turns.slice(1);
      break;
    case 'config-accepted':
    case 'config-refused':
    case 'config-unchecked':
      world.check = undefined;
      break;
    case 'retry-due':
      world.retry = false;
      break;
    case 'rescue-due':
      world.rescue = false;
      break;
    case 'epoch-stable':
      world.stable = undefined;
      break;
    case 'drained':
      world.draining = false;
      break;
    case 'parent-expiring':
      world.weaning = { epoch: event.epoch, isExpiring: true };
      break;
    case 'parent-expired':
      world.weaning = undefined;
      break;
    case 'epoch-handed-off':
      world.retiring.delete(event.epoch);
      break;
    case 'epoch-live':
      if (followed !== undefined) world.followed = { ...followed, live: true, unresponsive: false };
      break;
    case 'epoch-unresponsive':
      if (followed !== undefined) world.followed = { ...followed, unresponsive: true };
      break;
    case 'epoch-answered':
      if (followed !== undefined) world.followed = { ...followed, unresponsive: false, hung: false };
      break;
    case 'epoch-hung':
      if (followed !== undefined) world.followed = { ...followed, hung: true };
      break;
    case 'epoch-exited':
      world.alive.delete(event.epoch);
      world.retiring.delete(event.epoch);
      world.turns[0]?.heard.add(event.epoch);
      if (followed?.epoch === event.epoch) world.followed = undefined;
      break;
    default:
      break;
  }
};

/** The event that follows at once, if there is one: a turn for which nothing has to be waited. */
const immediate = ({ turns: [turn] }: World): AgentEvent | undefined => {
  if (turn === undefined) return undefined;
  const { epoch, parent, older, others } = turn.order;
  const gone = parent === undefined || turn.heard.has(parent.epoch);
  if (!(gone || parent.awaits === undefined) || ![...older, ...others].every((number) => turn.heard.has(number))) return undefined;
  return { type: 'turn-granted', epoch, parent: gone ? 'gone' : 'live' };
};

const exits: Record<string, Exit> = {
  'exits cleanly': { kind: 'clean' },
  'fails with 1': { kind: 'failed', code: 1, tail: [] },
  'cannot bind': { kind: 'failed', code: 1, tail: [], addressTaken: ':80' },
  'is killed': { kind: 'signaled', signal: 'SIGKILL', tail: [] },
  'cannot be spawned': { kind: 'spawn-failed', reason: 'ENOENT' },
};

/** At the start only: an agent that is gone has left these. */
const adopted: AgentEvent = {
  type: 'epochs-adopted',
  epochs: [
    { epoch: 3, restartEpoch: 1, lineage: 0, pid: 33 },
    { epoch: 4, restartEpoch: 2, lineage: 0, pid: 44 },
  ],
};

/** Something that may happen next; where it cannot, nothing does. */
type Wish = (world: World) => AgentEvent | undefined;

const followed = (type: 'epoch-live' | 'epoch-unresponsive' | 'epoch-answered' | 'epoch-hung'): Wish => {
  return ({ followed: epoch }) => {
    if (epoch === undefined) return undefined;
    const possible = {
      'epoch-live': !epoch.live,
      'epoch-unresponsive': !epoch.unresponsive,
      'epoch-answered': epoch.unresponsive,
      'epoch-hung': epoch.unresponsive && !epoch.hung,
    };
    return possible[type] ? { type, epoch: epoch.epoch } : undefined;
  };
};

const wishes: Record<string, Wish> = {
  'hash a': () => ({ type: 'config-changed', reading: readingOf('a') }),
  'takes over': () => adopted,
  'hash b': () => ({ type: 'config-changed', reading: readingOf('b') }),
  'hash c': () => ({ type: 'config-changed', reading: readingOf('c') }),
  restart: () => ({ type: 'restart-requested', reading: readingOf('a') }),
  drain: () => ({ type: 'drain-requested' }),
  reopen: () => ({ type: 'reopen-requested' }),
  terminate: () => ({ type: 'terminate-requested', by: 'SIGTERM' }),
  turn: ({ turns: [turn] }) =>
    turn?.order.others.every((number) => turn.heard.has(number)) === true
      ? { type: 'turn-granted', epoch: turn.order.epoch, parent: 'stuck' }
      : undefined,
  'silent parent': ({ turns: [turn] }) =>
    turn?.order.parent?.lostChild === true ? { type: 'turn-granted', epoch: turn.order.epoch, parent: 'live' } : undefined,
  accepted: ({ check }) => (check === undefined ? undefined : { type: 'config-accepted', hash: check }),
  refused: ({ check }) => (check === undefined ? undefined : { type: 'config-refused', hash: check, reason: 'bad' }),
  'accepted apart': ({ check }) => (check === undefined ? undefined : { type: 'config-accepted', hash: check, standalone: true }),
  'accepted crowded': ({ check }) => (check === undefined ? undefined : { type: 'config-accepted', hash: check, noRoom: 'memory' }),
  unchecked: ({ check }) => unchecked(check, false),
  'unchecked for want of memory': ({ check }) => unchecked(check, true),
  'nobody serves': ({ rescue }) => (rescue ? { type: 'rescue-due' } : undefined),
  leave: () => ({ type: 'leave-requested', by: 'SIGTERM' }),
  'is live': followed('epoch-live'),
  'is silent': followed('epoch-unresponsive'),
  'answers again': followed('epoch-answered'),
  'has hung': followed('epoch-hung'),
  'is stable': ({ stable }) => (stable === undefined ? undefined : { type: 'epoch-stable', epoch: stable }),
  'tells its parent to end': ({ weaning }) =>
    weaning && { type: weaning.isExpiring ? 'parent-expired' : 'parent-expiring', epoch: weaning.epoch },
  'has retired': ({ retiring }) => retired(retiring, false),
  'is unresponsive when it should retire': ({ retiring }) => retired(retiring, true),
  'retry is due': ({ retry }) => (retry ? { type: 'retry-due' } : undefined),
  'has drained': ({ draining }) => (draining ? { type: 'drained', active: 0 } : undefined),
  ...Object.fromEntries(
    Object.entries(exits).flatMap(([name, exit]) => [
      [`newest ${name}`, (({ alive }) => exited([...alive].at(-1), exit)) satisfies Wish],
      [`oldest ${name}`, (({ alive }) => exited([...alive][0], exit)) satisfies Wish],
    ]),
  ),
};

function unchecked(hash: string | undefined, outOfMemory: boolean): AgentEvent | undefined {
  return hash === undefined ? undefined : { type: 'config-unchecked', hash, reason: 'killed', outOfMemory };
}

function retired(retiring: ReadonlySet<number>, unresponsive: boolean): AgentEvent | undefined {
  const [epoch] = retiring;
  return epoch === undefined ? undefined : { type: 'epoch-handed-off', epoch, unresponsive };
}

function exited(epoch: number | undefined, exit: Exit): AgentEvent | undefined {
  return epoch === undefined ? undefined : { type: 'epoch-exited', epoch, exit };
}

/** Lives through what is wished for, and yields each moment. Ends when the agent has stopped. */
function* live(policy: RestartPolicy, life: readonly (readonly string[])[]): Generator<Moment, undefined> {
  const reduce = reducer(policy);
  const world: World = {
    alive: new Set(),
    turns: [],
    check: undefined,
    retry: false,
    rescue: false,
    followed: undefined,
    stable: undefined,
    weaning: undefined,
    retiring: new Set(),
    ordered: new Set(),
    draining: false,
  };
  let state: AgentState = initialState;
  for (const names of life) {
    const possible = names.map((name) => wishes[name]?.(world));
    for (let event = possible.find((wish) => wish !== undefined); event !== undefined; event = immediate(world)) {
      settle(world, event);
      const survivors = new Set(world.alive);
      const before = state;
      const [next, effects] = reduce(before, event);
      state = next;
      carryOut(world, effects);
      yield { state, before, event, effects, world, survivors, policy };
      if (state.phase === 'stopped') return;
    }
  }
}

const show = (value: object): string =>
  Object.entries(value)
    .map(([key, field]) => (key === 'type' ? String(field) : `${key}=${JSON.stringify(field)}`))
    .join(' ');

/** What happened, one event a line, with what the agent made of it. */
const trace = (moments: readonly Moment[]): string =>
  moments
    .map(({ event, effects, state }) => {
      const epochs = [...state.epochs].map(([number, { stage, hash }]) => `${number}:${hash} ${stage}`).join(', ');
      return `  ${show(event)}\n      → ${effects.map(show).join('; ') || 'nothing'}\n      = ${state.phase}, [${epochs}]`;
    })
    .join('\n');

const policies = fc.record({ onCrash: fc.constantFrom<RestartPolicy['onCrash']>('backoff', 'exit'), budget: fc.constantFrom(0, 1, 2) });
/** What a long life is made of happens more often than what ends it. */
const often: Record<string, number> = {
  'is live': 12,
  accepted: 12,
  'hash b': 4,
  'hash c': 4,
  turn: 4,
  refused: 4,
  'retry is due': 6,
  'has retired': 4,
};
const names = Object.keys(wishes)
  .filter((name) => name !== 'takes over')
  .flatMap((name) => Array.from({ length: often[name] ?? 1 }, () => name));
/** The first wish that can come true does. */
const step = fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 3, size: 'max' });
const beginnings = [
  [['takes over']],
  [['takes over'], ['hash a'], ['accepted'], ['is live']],
  [['hash a']],
  [['hash a'], ['is live']],
  [['hash a'], ['is live'], ['hash b'], ['accepted']],
  [['hash a'], ['is live'], ['hash b'], ['accepted'], ['is live']],
] as const;
const lives = fc
  .tuple(fc.constantFrom(...beginnings), fc.array(step, { maxLength: 40, size: 'max' }))
  .map(([beginning, life]) => [...beginning, ...life]);

describe('the agent, whatever happens,', () => {
  it.each(Object.entries(promises))('%s', (_, promised) => {
    fc.assert(
      fc.property(policies, lives, (policy, life) => {
        const moments: Moment[] = [];
        for (const moment of live(policy, life)) {
          moments.push(moment);
          const broken = promised(moment);
          if (broken) throw new Error(`${broken}\npolicy ${policy.onCrash}, budget ${policy.budget}\n${trace(moments)}`);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
