import fc from 'fast-check';
import { describe, it } from 'vitest';
import type { RestartPolicy } from '../../../src/epochs/exits.ts';
import { type AgentState, claimOf, type Effect } from '../../../src/epochs/model.ts';
import { live, type Moment, type Process, wishes, type World } from '../../support/agent-world.ts';
import { modelRuns } from '../../support/model-runs.ts';

/** Returns the violation of a promise at a moment, or undefined or false if the promise holds. */
type Promised = (moment: Moment) => string | undefined | false;

/** Returns the launches of new processes, without those of adopted ones. */
const launches = (effects: readonly Effect[]) =>
  withType(effects, 'launch').flatMap(({ launch }) => (launch.adopted ? [] : [launch]));

const withType = <T extends Effect['type']>(effects: readonly Effect[], type: T) =>
  effects.filter((effect): effect is Extract<Effect, { type: T }> => effect.type === type);

const isStandalone = (state: AgentState): boolean => {
  const claim = claimOf(state);
  return claim !== undefined && claim.stage !== 'waiting' && claim.standalone;
};

/** Returns the youngest process that exists; if `lineage` is set, the youngest of that lineage. */
const newestOf = (
  alive: ReadonlyMap<number, Process>,
  lineage?: number,
): (Process & { readonly number: number }) | undefined => {
  const newest = [...alive].findLast(
    ([, process]) => lineage === undefined || process.lineage === lineage,
  );
  return newest && { ...newest[1], number: newest[0] };
};

/**
 * Whether clients reach an Envoy, or are about to: it does not drain and was not asked to end. An
 * Envoy that was never LIVE does not count if its parent was lost. A LIVE one does not count if it
 * is silent and lost a child: it may have handed over in vain.
 */
const serves = ({ live, silent, draining, askedToEnd, lostChild, parent }: Process): boolean =>
  !draining && !askedToEnd && (live ? !(silent && lostChild) : parent !== 'lost');

/** Whether a process is LIVE and may have clients, as far as can be seen. */
const hasClients = (process: Process): boolean =>
  process.live && serves(process) && process.parent !== 'lost';

const outstanding = ({ turns, check, retry }: World): boolean =>
  turns.length > 0 || check !== undefined || retry;

const promises: Record<string, Promised> = {
  'launches epochs by growing numbers': ({ before, effects }) =>
    launches(effects).some(({ epoch }) => epoch !== before.lastEpoch + 1) &&
    'an epoch number was not the next',

  'tells an epoch to be its living parent’s next, or 0 without one': ({ effects, survivors }) =>
    launches(effects).some(({ restartEpoch, lineage }) => {
      const parent = newestOf(survivors, lineage);
      return restartEpoch !== (parent === undefined ? 0 : parent.restartEpoch + 1);
    }) && 'a wrong restart epoch',

  'tells no child that comes up to end while its parent is there, which would end too': ({
    effects,
    survivors,
  }) =>
    withType(effects, 'stop').some(({ epoch }) => {
      const child = survivors.get(epoch);
      const parents = [...survivors.values()].filter(
        (other) =>
          other.lineage === child?.lineage && other.restartEpoch === child.restartEpoch - 1,
      );
      return child?.live === false && parents.length > 0;
    }) && 'a child that comes up is told to end',

  'kills one that is late only while another one serves': ({ before, effects, survivors }) =>
    before.phase === 'running' &&
    withType(effects, 'kill-unless-live').some(({ epoch }) =>
      [...survivors].every(([number, other]) => number === epoch || !hasClients(other)),
    ) &&
    before.terminations === 0 &&
    withType(effects, 'ask-drain').length === 0 &&
    'an Envoy that nobody replaces is killed',

  'starts no child of an Envoy that is told to end': ({ effects, survivors }) =>
    launches(effects).some(
      ({ restartEpoch, lineage }) =>
        restartEpoch > 0 && newestOf(survivors, lineage)?.askedToEnd === true,
    ) && 'a child of an Envoy that ends',

  'starts no second epoch of a lineage while one comes up': ({ effects, survivors }) =>
    launches(effects).some(({ lineage }) =>
      [...survivors.values()].some((process) => process.lineage === lineage && !process.live),
    ) && 'two epochs of a lineage come up',

  'has two lineages at most that are not told to end': ({ world }) =>
    new Set(
      [...world.alive.values()].flatMap(({ askedToEnd, lineage }) => (askedToEnd ? [] : [lineage])),
    ).size > 2 && 'three lineages',

  'has an admin endpoint apart exactly where another lineage is': ({ effects, survivors }) =>
    launches(effects).some(
      (launch) =>
        launch.sideBySide !==
        [...survivors.values()].some(({ lineage }) => lineage !== launch.lineage),
    ) && 'a wrong place for the admin endpoint',

  'starts no child of a parent whose listeners it has closed': ({ before, effects }) =>
    launches(effects).some(
      ({ lineage, restartEpoch }) => restartEpoch > 0 && lineage !== before.lineage,
    ) && 'a child of a lineage that goes',

  'gives up nothing that serves for an Envoy that would have no configuration': ({
    before,
    effects,
    survivors,
    world,
  }) =>
    before.lastEpoch >= 0 &&
    world.missing &&
    [...survivors.values()].some(hasClients) &&
    (launches(effects).length > 0 ||
      (before.phase === 'running' &&
        withType(effects, 'hand-off').some(({ to }) => to === 'successor'))) &&
    'a launch beside an Envoy that serves',

  'gives up an Envoy only for a reading that was checked': ({ before, event, state }) => {
    const [old, next] = [claimOf(before), claimOf(state)];
    return (
      old?.stage === 'replacing' &&
      next?.stage === 'replacing' &&
      old.reading.hash !== next.reading.hash &&
      !(event.type === 'config-accepted' && event.hash === next.reading.hash) &&
      'the claim takes a reading without a check'
    );
  },

  'spends no budget on a rescue': ({ before, state }) =>
    state.lineage > before.lineage && state.crashes > before.crashes && 'a crash was counted',

  'tries again without a pause once, until an Envoy is stable or something changes': ({
    before,
    event,
    effects,
    state,
    policy,
  }) =>
    before.retried &&
    state.retried &&
    event.type === 'epoch-exited' &&
    state.lineage === before.lineage &&
    claimOf(before) === undefined &&
    withType(effects, 'await-turn').length > 0 &&
    `again, without a pause (${policy.onCrash})`,

  'leaves the child of a parent that died early to its end no longer than it must': ({
    before,
    state,
    world,
  }) => {
    const newest = newestOf(world.alive);
    if (
      newest === undefined ||
      !world.justLost.includes(newest.number) ||
      newest.askedToEnd ||
      newest.draining
    )
      return false;
    return (
      state.phase === 'running' &&
      newest.lineage === before.lineage &&
      !isStandalone(state) &&
      claimOf(state)?.stage !== 'replacing' &&
      'nobody comes to the rescue'
    );
  },

  'claims no child of an Envoy whose parent has died early': ({ before, state, world }) => {
    const newest = newestOf(world.alive, state.lineage);
    const isNewClaim = claimOf(state) !== undefined && claimOf(before) === undefined;
    return (
      newest?.parent === 'lost' &&
      !newest.askedToEnd &&
      !newest.draining &&
      isNewClaim &&
      !isStandalone(state) &&
      'a claim that waits for it'
    );
  },

  'has told to end whoever is the first that has to': ({ state, world }) =>
    [...state.epochs.values()].some(
      ({ stage, lineage }) =>
        stage === 'stopping' && !world.ordered.has(newestOf(world.alive, lineage)?.number ?? -1),
    ) && 'nobody tells a lineage to end',

  'sends the clients of all other lineages away once the newest one serves': ({ state, world }) =>
    state.phase === 'running' &&
    newestOf(world.alive, state.lineage)?.live === true &&
    [...world.alive].some(
      ([number, { lineage, askedToEnd }]) =>
        lineage !== state.lineage &&
        !askedToEnd &&
        newestOf(world.alive, lineage)?.number === number &&
        !world.handedOff.has(number),
    ) &&
    'two lineages serve for good',

  'starts nothing once it was asked to end, or ends': ({ before, effects }) =>
    (before.terminations > 0 || before.phase !== 'running') &&
    withType(effects, 'launch').length > 0 &&
    'launched nevertheless',

  'knows which processes exist': ({ state, world }) =>
    String([...state.epochs.keys()]) !== String([...world.alive.keys()]) &&
    `alive are ${[...world.alive.keys()].join()}`,

  'has stopped only when no process exists, or leaves them alone': ({ state, event, world }) =>
    state.phase === 'stopped' &&
    world.alive.size > 0 &&
    event.type !== 'leave-requested' &&
    'stopped with a process alive',

  'has stopped when it was asked to and no process exists': ({ state, world }) =>
    state.terminations > 0 && world.alive.size === 0 && state.phase !== 'stopped' && 'not stopped',

  'stops, kills and signals only what exists': ({ effects, survivors }) =>
    [
      ...withType(effects, 'stop'),
      ...withType(effects, 'kill'),
      ...withType(effects, 'reopen'),
    ].some(({ epoch }) => !survivors.has(epoch)) && 'an order to a process that is gone',

  'counts no more crashes than its budget': ({ state, policy: { budget } }) =>
    budget > 0 && state.crashes > budget && `${state.crashes} crashes`,

  'never dies: without an Envoy that serves or comes up, something is on its way': ({
    state,
    world,
  }) =>
    state.phase === 'running' &&
    world.wanted &&
    ![...world.alive.values()].some(({ draining, askedToEnd }) => !draining && !askedToEnd) &&
    !(
      claimOf(state)?.stage === 'replacing' &&
      [...world.alive].some(([number, { askedToEnd }]) => askedToEnd || world.handedOff.has(number))
    ) &&
    !outstanding(world) &&
    'nothing will ever happen',

  'has an Envoy that serves or comes up, or starts one in a moment': ({ state, world }) =>
    state.phase === 'running' &&
    world.served &&
    world.wanted &&
    ![...world.alive.values()].some(serves) &&
    !world.retry &&
    !world.rescue &&
    claimOf(state)?.stage !== 'replacing' &&
    'nobody serves, and nobody sees to it',

  'has started one when nobody has served for a moment': ({ before, event, effects, world }) =>
    event.type === 'rescue-due' &&
    before.phase === 'running' &&
    launches(effects).length === 0 &&
    world.rescue &&
    'nothing was started',

  'takes no check without a verdict for a refusal': ({ before, event, state }) =>
    event.type === 'config-unchecked' &&
    before.phase === 'running' &&
    before.claim?.stage === 'checking' &&
    before.claim.reading.hash === event.hash &&
    (state.refused !== before.refused ||
      (claimOf(state) === undefined && state.lastEpoch === before.lastEpoch)) &&
    'the change is forgotten',

  'does not end with an Envoy that has handed over': ({ before, event, state }) =>
    before.phase === 'running' &&
    event.type === 'epoch-exited' &&
    before.epochs.get(event.epoch)?.stage === 'draining' &&
    state.phase !== 'running' &&
    'ended with an Envoy that has handed over',

  'waits for what it claims': ({ state, world }) => {
    const claim = claimOf(state);
    if (state.phase === 'running' && state.examined !== undefined && world.check === undefined)
      return 'examines without a check';
    switch (claim?.stage) {
      case 'waiting':
        return (
          !world.turns.some(({ order }) => order.epoch === claim.epoch) && 'no turn is outstanding'
        );
      case 'checking':
        return world.check !== claim.reading.hash && 'no check of it is outstanding';
      case 'fetching':
        if (!world.missing) return 'nothing is missing';
        return ![...world.alive.values()].some(hasClients) && 'no Envoy serves meanwhile';
      case 'replacing':
        return world.alive.size === 0 && 'nothing is left to be replaced';
      default:
        return false;
    }
  },

  'has no turn waiting behind another': ({ world }) =>
    world.turns.length > 1 && 'two turns are outstanding',

  'watches the newest epoch that exists, while it runs': ({ state, world }) => {
    const newest = newestOf(world.alive);
    const watched =
      newest === undefined || newest.askedToEnd || world.followed?.epoch === newest.number;
    return state.phase === 'running' && !watched && 'nobody looks at the newest epoch';
  },
};

const show = (value: object): string =>
  Object.entries(value)
    .map(([key, field]) => (key === 'type' ? String(field) : `${key}=${JSON.stringify(field)}`))
    .join(' ');

/** Prints each event, with the effects and the state that follow it. */
const trace = (moments: readonly Moment[]): string =>
  moments
    .map(({ event, effects, state }) => {
      const epochs = [...state.epochs]
        .map(([number, { stage, hash }]) => `${number}:${hash} ${stage}`)
        .join(', ');
      return `  ${show(event)}\n      → ${effects.map(show).join('; ') || 'nothing'}\n      = ${state.phase}, [${epochs}]`;
    })
    .join('\n');

const policies = fc.record({
  onCrash: fc.constantFrom<RestartPolicy['onCrash']>('backoff', 'exit'),
  budget: fc.constantFrom(0, 1, 2),
});
/** The weights of events: those that continue a life occur more often than those that end it. */
const often: Record<string, number> = {
  'is live': 12,
  accepted: 12,
  'hash b': 4,
  'hash c': 4,
  turn: 4,
  refused: 4,
  'retry is due': 6,
  'is late': 3,
  'resources are missing': 2,
  'resources are there': 4,
  'has retired': 4,
};
const names = Object.keys(wishes)
  .filter((name) => name !== 'takes over')
  .flatMap((name) => Array.from({ length: often[name] ?? 1 }, () => name));
/** The names of wishes, of which the first possible one comes true. */
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
          if (broken)
            throw new Error(
              `${broken}\npolicy ${policy.onCrash}, budget ${policy.budget}\n${trace(moments)}`,
            );
        }
      }),
      { numRuns: modelRuns(2_000) },
    );
  });
});
