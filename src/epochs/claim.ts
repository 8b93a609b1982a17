import type { EpochConfig } from './ports.ts';
import { launch, replace } from './launch.ts';
import { comesUpAlone, newestEpoch, parentEndedEarly, serves } from './lineage.ts';
import type { Epoch } from './epoch.ts';
import type { AgentEvent, AgentState, AwaitedParent, Claim, Running } from './model.ts';
import type { Reading } from '../streams/reading.ts';
import { type AgentStep, andThen, stay, withoutRetry } from './step.ts';

type RunningStep = AgentStep<Running>;

/**
 * Claims the next epoch for the newest reading. If there is a claim already, it takes that reading:
 * only one epoch comes up at a time, and the newest reading wins. A claim that replaces Envoys
 * takes it once its check accepts it. Without a reading nothing is claimed; the first reading then
 * makes the claim.
 */
export function claim(state: Running, how: 'forced' | 'unforced'): RunningStep {
  const { claim: claimed, wanted } = state;
  const forced = how === 'forced';
  if (wanted === undefined) return stay(state);
  if (claimed !== undefined) {
    const kept = { ...claimed, forced: forced || claimed.forced };
    // The Envoy that served has been given up for a reading that works.
    if (kept.stage === 'replacing' && wanted.hash !== kept.reading.hash)
      return [{ ...state, claim: kept }, [{ type: 'check', reading: wanted, delay: 0 }]];
    const next = { ...kept, reading: wanted };
    return next.stage === 'checking'
      ? checked(state, { ...next, unchecked: 0 }, 0)
      : stay({ ...state, claim: next });
  }
  if (parentEndedEarly(state)) return claimStandalone(state);
  return andThen(withoutRetry({ ...state, examined: undefined }), (next) =>
    takeTurn(next, { epoch: state.lastEpoch + 1, reading: wanted, forced }),
  );
}

/** Claims a standalone epoch, which needs no turn, and checks its reading. */
export function claimStandalone(state: Running): RunningStep {
  return standalone(state, state.wanted);
}

/** Starts a standalone epoch at once. */
export function launchStandalone(state: Running): RunningStep {
  return standalone(state, state.wanted, launch);
}

/** Replaces the running Envoys by a standalone one, without a check. */
export function replaceByStandalone(state: Running): RunningStep {
  return standalone(state, state.wanted, replace);
}

/**
 * Claims a standalone epoch, and takes the step `next` if nothing holds the claim back. By default
 * that step is its check.
 */
function standalone(
  state: Running,
  reading: Reading<EpochConfig> | undefined,
  next?: (state: Running) => RunningStep,
): RunningStep {
  const claimed = reading && {
    epoch: state.lastEpoch + 1,
    reading,
    forced: true,
    standalone: true,
  };
  return andThen(
    andThen(withdraw(state), (left) => withoutRetry({ ...left, examined: undefined })),
    (left) => {
      if (claimed === undefined) return stay(left);
      if (next === undefined || isHeldBack(left)) return goOn(left, claimed);
      return next({ ...left, claim: { ...claimed, stage: 'checking', unchecked: 0 } });
    },
  );
}

type TurnTaken = Pick<
  Exclude<Claim, { readonly stage: 'waiting' }>,
  'epoch' | 'reading' | 'forced' | 'standalone'
>;

/**
 * Checks the reading of the claim. If its Envoy would have to wait for its configuration while
 * another one serves, the claim waits for the resources first: the agent does not give up an Envoy
 * that serves.
 */
export function goOn(
  state: Running,
  { epoch, reading, forced, standalone }: TurnTaken,
): RunningStep {
  const claimed = { epoch, reading, forced, standalone };
  if (isHeldBack(state)) return stay({ ...state, claim: { ...claimed, stage: 'fetching' } });
  return checked(state, { ...claimed, stage: 'checking', unchecked: 0 }, 0);
}

/**
 * Whether an Envoy serves and the next one would have no configuration. A rescue is not held back.
 */
export function isHeldBack(state: Running): boolean {
  return state.missing !== '' && serves(state) && !parentEndedEarly(state);
}

/** Continues a claim that has waited for resources, once nothing holds it back. */
export function released(state: AgentState): AgentStep {
  if (state.phase !== 'running' || state.claim?.stage !== 'fetching' || isHeldBack(state))
    return stay(state);
  return goOn(state, state.claim);
}

/** Returns the state with a claim whose reading is checked after `delay` ms. */
export function checked(state: Running, claimed: Claim, delay: number): RunningStep {
  return [{ ...state, claim: claimed }, [{ type: 'check', reading: claimed.reading, delay }]];
}

/**
 * Launches the claim after the last process that it replaces. If its reading is no longer the
 * newest one, the newest one is claimed next.
 */
export function launchReplacement(state: Running): RunningStep {
  const hash = state.claim?.reading.hash;
  return andThen(launch(state), (next) =>
    next.wanted?.hash === hash ? stay(next) : claim(next, 'unforced'),
  );
}

/** Requests the turn of an epoch. An epoch that cannot be a hot restart needs no turn. */
export function takeTurn(
  state: Running,
  { epoch, reading, forced }: Pick<Claim, 'epoch' | 'reading' | 'forced'>,
): RunningStep {
  const newest = newestEpoch(state, state.lineage);
  if (newest?.mute === true) return goOn(state, { epoch, reading, forced, standalone: true });
  const parent = newest && {
    epoch: newest.number,
    awaits: awaits(newest),
    lostChild: newest.lostChild === true,
    replaceable: comesUpAlone(state),
  };
  const others = [...state.epochs].filter(([, { lineage }]) => lineage !== state.lineage);
  const older = [...state.epochs]
    .filter(([number, { lineage }]) => lineage === state.lineage && number !== newest?.number)
    .map(([number]) => number);
  return [
    { ...state, claim: { epoch, reading, forced, stage: 'waiting' } },
    [{ type: 'await-turn', epoch, parent, older, others: others.map(([number]) => number) }],
  ];
}

/**
 * Returns what a turn waits for. A parent that drains is not awaited: its child is gone, and it
 * serves no one.
 */
function awaits({ stage, answering }: Epoch): AwaitedParent['awaits'] {
  if (stage === 'starting') return 'epoch-live';
  if (stage !== 'live') return undefined;
  return answering ? 'answer' : 'epoch-answered';
}

/** Requests the turn again because the Envoy that was to be the parent of the claim is gone. */
export function claimAgain(state: Running): RunningStep {
  const { claim: claimed } = state;
  return claimed === undefined
    ? stay(state)
    : andThen(withdraw(state), (next) => takeTurn(next, claimed));
}

/** Withdraws the claim. */
export function withdraw(state: Running): RunningStep {
  return state.claim === undefined
    ? stay(state)
    : [{ ...state, claim: undefined }, [{ type: 'withdraw-turn', epoch: state.claim.epoch }]];
}

/**
 * Continues the claim whose turn has come. The first epoch is launched without a check, so that
 * nothing delays it.
 */
export function turnGranted(
  state: Running,
  epoch: number,
  parent: Extract<AgentEvent, { readonly type: 'turn-granted' }>['parent'],
): RunningStep {
  const { claim: claimed } = state;
  if (claimed?.epoch !== epoch || claimed.stage !== 'waiting') return stay(state);
  if (state.lastEpoch < 0) return launch(state);
  return goOn(state, { ...claimed, standalone: parent === 'stuck' });
}
