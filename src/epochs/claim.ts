import type { EpochConfig } from './ports.ts';
import { launch, replace } from './launch.ts';
import { comesUpAlone, newestEpoch, parentEndedEarly, serves } from './lineage.ts';
import type { Epoch } from './epoch.ts';
import type { AgentEvent, AgentState, AwaitedParent, Claim, Running } from './model.ts';
import type { Reading } from '../streams/reading.ts';
import { type AgentStep, andThen, stay, withoutRetry } from './step.ts';

type RunningStep = AgentStep<Running>;

/**
 * Claims the next epoch for the newest reading. A claim that exists takes that reading: one epoch
 * at a time comes up, and the newest wins. Without a reading nothing is claimed: the first one
 * claims by itself.
 */
export function claim(state: Running, how: 'forced' | 'unforced'): RunningStep {
  const { claim: claimed, wanted } = state;
  const forced = how === 'forced';
  if (wanted === undefined) return stay(state);
  if (claimed !== undefined) {
    const next = { ...claimed, reading: wanted, forced: forced || claimed.forced };
    return next.stage === 'checking'
      ? checked(state, { ...next, unchecked: 0 }, 0)
      : stay({ ...state, claim: next });
  }
  if (parentEndedEarly(state)) return claimStandalone(state);
  return andThen(withoutRetry({ ...state, examined: undefined }), (next) =>
    takeTurn(next, { epoch: state.lastEpoch + 1, reading: wanted, forced }),
  );
}

/** Claims an Envoy that is nobody's child, without waiting for a turn, and checks its reading. */
export function claimStandalone(state: Running): RunningStep {
  return standalone(state, state.wanted);
}

/** Starts an Envoy that is nobody's child at once. */
export function launchStandalone(state: Running): RunningStep {
  return standalone(state, state.wanted, launch);
}

/** Replaces what runs by an Envoy that is nobody's child, without a check. */
export function replaceByStandalone(state: Running): RunningStep {
  return standalone(state, state.wanted, replace);
}

/** What is to be done with the claim next, if nothing holds it back, is its check by default. */
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
 * The reading of the claim is checked. Where its Envoy would have to wait for its configuration
 * while another one serves, the claim waits for that first: what serves is not given up.
 */
export function goOn(
  state: Running,
  { epoch, reading, forced, standalone }: TurnTaken,
): RunningStep {
  const claimed = { epoch, reading, forced, standalone };
  if (isHeldBack(state)) return stay({ ...state, claim: { ...claimed, stage: 'fetching' } });
  return checked(state, { ...claimed, stage: 'checking', unchecked: 0 }, 0);
}

/** An Envoy serves, and the next one would have no configuration. A rescue is not held back. */
export function isHeldBack(state: Running): boolean {
  return state.missing !== '' && serves(state) && !parentEndedEarly(state);
}

/** The claim that has waited for resources goes on once nothing holds it back. */
export function released(state: AgentState): AgentStep {
  if (state.phase !== 'running' || state.claim?.stage !== 'fetching' || isHeldBack(state))
    return stay(state);
  return goOn(state, state.claim);
}

/** The state with a claim whose reading is checked, after `delay` ms. */
export function checked(state: Running, claimed: Claim, delay: number): RunningStep {
  return [{ ...state, claim: claimed }, [{ type: 'check', reading: claimed.reading, delay }]];
}

/** Asks for the turn of an epoch. One that no hot restart can follow has none to wait for. */
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

/** Of a parent that drains nothing is to be expected: its child is gone, and it serves no one. */
function awaits({ stage, answering }: Epoch): AwaitedParent['awaits'] {
  if (stage === 'starting') return 'epoch-live';
  if (stage !== 'live') return undefined;
  return answering ? 'answer' : 'epoch-answered';
}

/** The Envoy that was to be the parent of the claim is gone: the claim asks for its turn anew. */
export function claimAnew(state: Running): RunningStep {
  const { claim: claimed } = state;
  return claimed === undefined
    ? stay(state)
    : andThen(withdraw(state), (next) => takeTurn(next, claimed));
}

/** Gives the claim up. */
export function withdraw(state: Running): RunningStep {
  return state.claim === undefined
    ? stay(state)
    : [{ ...state, claim: undefined }, [{ type: 'withdraw-turn', epoch: state.claim.epoch }]];
}

/**
 * The claim's turn has come: it goes on, and the very first epoch is launched, which nothing
 * delays.
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
