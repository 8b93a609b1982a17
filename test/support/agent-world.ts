import {
  type AgentEvent,
  type AgentState,
  type Effect,
  initialState,
} from '../../src/epochs/model.ts';
import type { RestartPolicy } from '../../src/epochs/exits.ts';
import type { AdoptedEpoch, Exit, Launch } from '../../src/epochs/ports.ts';
import { reducer } from '../../src/epochs/reducer.ts';
import { readingOf } from '../../src/testing/reading.ts';

/** A process as its surroundings see it, even if the agent sees it differently. */
export interface Process {
  readonly lineage: number;
  readonly restartEpoch: number;
  /** Whether it has been LIVE. */
  live: boolean;
  /** Whether it does not answer. */
  silent: boolean;
  /** Whether another epoch became LIVE since, or it has to hand its clients to a successor. */
  draining: boolean;
  /** Whether it is killed because it was not LIVE in time. */
  late: boolean;
  /** Whether its lineage was asked to end, or is killed. */
  askedToEnd: boolean;
  /**
   * Whether a child of it ended before that was LIVE, and it has not answered since. A child that
   * was late does not count.
   */
  lostChild: boolean;
  /** `lost`: the parent ended before its time, which ends this process too. */
  parent: 'none' | 'there' | 'ends' | 'ended' | 'lost';
}

/** A turn that an effect requested. It records exits as soon as it is the first turn. */
interface Turn {
  readonly order: Extract<Effect, { type: 'await-turn' }>;
  readonly heard: Set<number>;
}

/** The processes, and everything that may still happen because of the effects so far. */
export interface World {
  /** The processes that exist, by epoch, the oldest first. */
  readonly alive: Map<number, Process>;
  /** The epochs whose parent was lost by the last event. */
  justLost: readonly number[];
  /** Whether an epoch has been LIVE, or epochs were adopted. */
  served: boolean;
  /** Whether there is a configuration to start an Envoy from. */
  wanted: boolean;
  /** The hash of the newest reading. */
  newest: string | undefined;
  turns: readonly Turn[];
  check: string | undefined;
  /** Whether resources that an Envoy needs are missing. */
  missing: boolean;
  retry: boolean;
  rescue: boolean;
  followed:
    | { readonly epoch: number; live: boolean; late: boolean; unresponsive: boolean; hung: boolean }
    | undefined;
  stable: number | undefined;
  /** The epoch that will ask its parent to end. `isExpiring`: it is about to do so. */
  parentExpiry: { readonly epoch: number; readonly isExpiring: boolean } | undefined;
  readonly handedOff: Set<number>;
  /** The epochs that were asked to end, or are killed. */
  readonly ordered: Set<number>;
  draining: boolean;
}

/** The state of a run of the agent after one event. */
export interface Moment {
  readonly state: AgentState;
  readonly before: AgentState;
  readonly event: AgentEvent;
  readonly effects: readonly Effect[];
  readonly world: World;
  /** The processes that existed when the event came, except one that ended with it. */
  readonly survivors: ReadonlyMap<number, Process>;
  readonly policy: RestartPolicy;
}

/** Changes a process; if `was` is there, only if its parent is in one of these states. */
function change(
  { alive }: World,
  epoch: number,
  what: Partial<Process>,
  was?: readonly Process['parent'][],
): void {
  const process = alive.get(epoch);
  if (process !== undefined && was?.includes(process.parent) !== false)
    Object.assign(process, what);
}

function lineageOf({ alive }: World, epoch: number): readonly Process[] {
  return [...alive.values()].filter(({ lineage }) => lineage === alive.get(epoch)?.lineage);
}

/**
 * Returns the process of a launch. An adopted process has been LIVE, except the newest: for that it
 * is not known, nor whether its parent's time is over.
 */
function started(launch: Launch): Process {
  const { lineage, restartEpoch, adopted } = launch;
  const isNewest =
    !adopted || launch.epoch === Math.max(...adoptedEpochs.map(({ epoch }) => epoch));
  const isChild = !adopted && restartEpoch > 0;
  return {
    lineage,
    restartEpoch,
    live: !isNewest,
    silent: false,
    draining: false,
    late: false,
    askedToEnd: false,
    lostChild: false,
    parent: isChild ? 'there' : 'none',
  };
}

/** Removes a process that ended, and changes its child and its parent as its end does. */
function exit(
  world: World,
  { epoch, exit: { kind } }: Extract<AgentEvent, { type: 'epoch-exited' }>,
): void {
  const gone = world.alive.get(epoch);
  world.alive.delete(epoch);
  const relatives = [...world.alive].filter(([, { lineage }]) => lineage === gone?.lineage);
  for (const [number, relative] of relatives) {
    const distance = relative.restartEpoch - (gone?.restartEpoch ?? 0);
    if (distance === 1 && relative.parent === 'ends' && kind === 'clean') relative.parent = 'ended';
    if (distance === 1 && ['there', 'ends'].includes(relative.parent)) {
      relative.parent = 'lost';
      world.justLost = [...world.justLost, number];
    }
    if (distance === -1 && gone?.live === false) relative.lostChild = !gone.late;
  }
}

/** Carries out effects as the interpreter does. */
const carryOut = (world: World, effects: readonly Effect[], event: AgentEvent): void => {
  for (const effect of effects) {
    switch (effect.type) {
      case 'await-turn':
        world.turns = [...world.turns, { order: effect, heard: new Set() }];
        break;
      case 'withdraw-turn':
        world.turns = world.turns.filter(
          ({ order }, index) => index > 0 || order.epoch !== effect.epoch,
        );
        world.check = undefined;
        break;
      case 'check':
        world.check = effect.reading.hash;
        break;
      case 'launch':
        world.alive.set(effect.launch.epoch, started(effect.launch));
        break;
      case 'follow':
        world.followed = {
          epoch: effect.epoch,
          live: false,
          late: false,
          unresponsive: false,
          hung: false,
        };
        break;
      case 'await-stable':
        world.stable = effect.epoch;
        break;
      case 'await-parent-expiry':
        world.parentExpiry = { epoch: effect.epoch, isExpiring: false };
        break;
      case 'hand-off':
        world.handedOff.add(effect.epoch);
        if (effect.to === 'successor') change(world, effect.epoch, { draining: true });
        break;
      case 'stop':
        world.ordered.add(effect.epoch);
        for (const process of lineageOf(world, effect.epoch)) process.askedToEnd = true;
        break;
      case 'kill':
        world.ordered.add(effect.epoch);
        // An epoch that hangs is killed alone, any other one when its lineage has to end.
        if (event.type !== 'epoch-hung')
          for (const process of lineageOf(world, effect.epoch)) process.askedToEnd = true;
        break;
      case 'kill-unless-live':
        change(world, effect.epoch, { late: true });
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

/** Applies an event, and clears the requests that it fulfils. */
const settle = (world: World, event: AgentEvent): void => {
  const { followed } = world;
  switch (event.type) {
    case 'turn-granted':
      world.turns = world.turns.slice(1);
      break;
    case 'config-changed':
    case 'restart-requested':
      world.wanted = true;
      world.newest = event.reading.hash;
      break;
    case 'epochs-adopted':
      world.served = true;
      break;
    case 'resources-known':
      world.missing = event.missing !== '';
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
      change(world, event.epoch, { parent: 'ends' }, ['there']);
      world.parentExpiry = { epoch: event.epoch, isExpiring: true };
      break;
    case 'parent-expired':
      change(world, event.epoch, { parent: 'ended' }, ['there', 'ends']);
      world.parentExpiry = undefined;
      break;
    case 'epoch-handed-off':
      world.handedOff.delete(event.epoch);
      // An epoch that does not answer is killed with its lineage.
      if (event.unresponsive)
        for (const process of lineageOf(world, event.epoch)) process.askedToEnd = true;
      break;
    case 'epoch-live':
      world.served = true;
      if (world.alive.get(event.epoch)?.live === false) {
        for (const process of world.alive.values()) process.draining = true;
        change(world, event.epoch, { live: true, draining: false, late: false });
      }
      if (followed !== undefined) world.followed = { ...followed, live: true, unresponsive: false };
      break;
    case 'epoch-late':
      if (followed !== undefined) world.followed = { ...followed, late: true };
      break;
    case 'epoch-unresponsive':
      change(world, event.epoch, { silent: true });
      if (followed !== undefined) world.followed = { ...followed, unresponsive: true };
      break;
    case 'epoch-answered':
      change(world, event.epoch, { silent: false, lostChild: false });
      if (followed !== undefined)
        world.followed = { ...followed, unresponsive: false, hung: false };
      break;
    case 'epoch-hung':
      if (followed !== undefined) world.followed = { ...followed, hung: true };
      break;
    case 'epoch-exited':
      exit(world, event);
      world.handedOff.delete(event.epoch);
      world.turns[0]?.heard.add(event.epoch);
      if (followed?.epoch === event.epoch) world.followed = undefined;
      break;
    default:
      break;
  }
};

/**
 * Returns the event that follows at once: the first turn is granted, if it waits for nothing.
 * Undefined if no event follows at once.
 */
const immediate = ({ turns: [turn] }: World): AgentEvent | undefined => {
  if (turn === undefined) return undefined;
  const { epoch, parent, older, others } = turn.order;
  const gone = parent === undefined || turn.heard.has(parent.epoch);
  if (
    !(gone || parent.awaits === undefined) ||
    ![...older, ...others].every((number) => turn.heard.has(number))
  )
    return undefined;
  return { type: 'turn-granted', epoch, parent: gone ? 'gone' : 'live' };
};

const exits: Record<string, Exit> = {
  'exits cleanly': { kind: 'clean' },
  'fails with 1': { kind: 'failed', code: 1, tail: [] },
  'cannot bind': { kind: 'failed', code: 1, tail: [], addressTaken: ':80' },
  'is killed': { kind: 'signaled', signal: 'SIGKILL', tail: [] },
  'cannot be spawned': { kind: 'spawn-failed', reason: 'ENOENT' },
};

/** The epochs that an earlier agent left. They can be adopted at the start only. */
const adoptedEpochs: readonly AdoptedEpoch[] = [
  { epoch: 3, restartEpoch: 1, lineage: 0, pid: 33 },
  { epoch: 4, restartEpoch: 2, lineage: 0, pid: 44 },
];

/** Returns an event that may happen next; undefined if it cannot happen now. */
type Wish = (world: World) => AgentEvent | undefined;

const followed = (
  type: 'epoch-live' | 'epoch-late' | 'epoch-unresponsive' | 'epoch-answered' | 'epoch-hung',
): Wish => {
  return ({ followed: epoch }) => {
    if (epoch === undefined) return undefined;
    const possible = {
      'epoch-live': !epoch.live,
      'epoch-late': !epoch.live && !epoch.late && !epoch.unresponsive,
      'epoch-unresponsive': !epoch.unresponsive,
      'epoch-answered': epoch.unresponsive,
      'epoch-hung': epoch.unresponsive && !epoch.hung,
    };
    return possible[type] ? { type, epoch: epoch.epoch } : undefined;
  };
};

export const wishes: Readonly<Record<string, Wish>> = {
  'hash a': () => ({ type: 'config-changed', reading: readingOf('a') }),
  'takes over': () => ({ type: 'epochs-adopted', epochs: adoptedEpochs }),
  'hash b': () => ({ type: 'config-changed', reading: readingOf('b') }),
  'hash c': () => ({ type: 'config-changed', reading: readingOf('c') }),
  'same hash': ({ newest }) =>
    newest === undefined ? undefined : { type: 'config-confirmed', reading: readingOf(newest) },
  restart: () => ({ type: 'restart-requested', by: 'SIGHUP', reading: readingOf('a') }),
  drain: () => ({ type: 'drain-requested' }),
  'resources are missing': () => ({ type: 'resources-known', missing: 'clusters' }),
  'resources are there': ({ missing }) =>
    missing ? { type: 'resources-known', missing: '' } : undefined,
  reopen: () => ({ type: 'reopen-requested' }),
  terminate: () => ({ type: 'terminate-requested', by: 'SIGTERM' }),
  turn: ({ turns: [turn] }) =>
    turn?.order.others.every((number) => turn.heard.has(number)) === true
      ? { type: 'turn-granted', epoch: turn.order.epoch, parent: 'stuck' }
      : undefined,
  'waiting parent': ({ turns: [turn] }) =>
    turn?.order.parent?.replaceable === true
      ? { type: 'turn-granted', epoch: turn.order.epoch, parent: 'waiting' }
      : undefined,
  'silent parent': ({ turns: [turn] }) =>
    turn?.order.parent?.lostChild === true
      ? { type: 'turn-granted', epoch: turn.order.epoch, parent: 'live' }
      : undefined,
  accepted: ({ check }) =>
    check === undefined
      ? undefined
      : { type: 'config-accepted', hash: check, verdict: { kind: 'works' } },
  refused: ({ check }) =>
    check === undefined ? undefined : { type: 'config-refused', hash: check, reason: 'bad' },
  'accepted apart': ({ check }) =>
    check === undefined
      ? undefined
      : { type: 'config-accepted', hash: check, verdict: { kind: 'works-alone' } },
  'accepted crowded': ({ check }) =>
    check === undefined
      ? undefined
      : { type: 'config-accepted', hash: check, verdict: { kind: 'no-room', reason: 'memory' } },
  unchecked: ({ check }) => unchecked(check, false),
  'unchecked for want of memory': ({ check }) => unchecked(check, true),
  'nobody serves': ({ rescue }) => (rescue ? { type: 'rescue-due' } : undefined),
  leave: () => ({ type: 'leave-requested', by: 'SIGTERM' }),
  'is live': followed('epoch-live'),
  'is late': followed('epoch-late'),
  'is silent': followed('epoch-unresponsive'),
  'answers again': followed('epoch-answered'),
  'has hung': followed('epoch-hung'),
  'is stable': ({ stable }) =>
    stable === undefined ? undefined : { type: 'epoch-stable', epoch: stable },
  'tells its parent to end': ({ parentExpiry }) =>
    parentExpiry && {
      type: parentExpiry.isExpiring ? 'parent-expired' : 'parent-expiring',
      epoch: parentExpiry.epoch,
    },
  'has retired': ({ handedOff }) => retired(handedOff, false),
  'is unresponsive when it should retire': ({ handedOff }) => retired(handedOff, true),
  'retry is due': ({ retry }) => (retry ? { type: 'retry-due' } : undefined),
  'has drained': ({ draining }) => (draining ? { type: 'drained', active: 0 } : undefined),
  ...Object.fromEntries(
    Object.entries(exits).flatMap(([name, exit]) => [
      [`newest ${name}`, (({ alive }) => exited([...alive.keys()].at(-1), exit)) satisfies Wish],
      [`oldest ${name}`, (({ alive }) => exited([...alive.keys()][0], exit)) satisfies Wish],
    ]),
  ),
};

function unchecked(hash: string | undefined, outOfMemory: boolean): AgentEvent | undefined {
  return hash === undefined
    ? undefined
    : { type: 'config-unchecked', hash, reason: 'killed', outOfMemory };
}

function retired(handedOff: ReadonlySet<number>, unresponsive: boolean): AgentEvent | undefined {
  const [epoch] = handedOff;
  return epoch === undefined ? undefined : { type: 'epoch-handed-off', epoch, unresponsive };
}

function exited(epoch: number | undefined, exit: Exit): AgentEvent | undefined {
  return epoch === undefined ? undefined : { type: 'epoch-exited', epoch, exit };
}

/**
 * Runs an agent through a life, and yields each moment. In each step of the life, the first wish
 * that can happen does. Ends when the agent has stopped.
 */
export function* live(
  policy: RestartPolicy,
  life: readonly (readonly string[])[],
): Generator<Moment, undefined> {
  const reduce = reducer(policy);
  const world: World = {
    alive: new Map(),
    justLost: [],
    served: false,
    wanted: false,
    newest: undefined,
    turns: [],
    check: undefined,
    missing: false,
    retry: false,
    rescue: false,
    followed: undefined,
    stable: undefined,
    parentExpiry: undefined,
    handedOff: new Set(),
    ordered: new Set(),
    draining: false,
  };
  let state: AgentState = initialState;
  for (const names of life) {
    const possible = names.map((name) => wishes[name]?.(world));
    for (
      let event = possible.find((wish) => wish !== undefined);
      event !== undefined;
      event = immediate(world)
    ) {
      world.justLost = [];
      settle(world, event);
      const survivors = new Map(world.alive);
      const before = state;
      const [next, effects] = reduce(before, event);
      state = next;
      carryOut(world, effects, event);
      yield { state, before, event, effects, world, survivors, policy };
      if (state.phase === 'stopped') return;
    }
  }
}
