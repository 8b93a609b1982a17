import { launch, replace } from './launch.ts';
import { newestEpoch, parentEndedEarly } from './lineage.ts';
import type { AwaitedParent, Claim, Epoch, Running } from './model.ts';
import type { Reading } from './ports.ts';
import { type AgentStep, andThen, stay, withoutRetry } from './step.ts';

type RunningStep = AgentStep<Running>;

/**
 * Claims the next epoch for the newest reading. A claim that exists takes that reading: one epoch
 * at a time comes up, and the newest wins. Without a reading nothing is claimed: the first one
 * claims by itself.
 */
export function claim(state: Running, forced = false): RunningStep {
  const { claim: claimed, wanted } = state;
  if (wanted === undefined) return stay(state);
  if (claimed !== undefined) {
    const next = { ...claimed, reading: wanted, forced: forced || claimed.forced };
    return next.stage === 'checking' ? checked(state, { ...next, unchecked: 0 }) : stay({ ...state, claim: next });
  }
  if (parentEndedEarly(state)) return claimStandalone(state, wanted);
  return andThen(withoutRetry({ ...state, examined: undefined }), (next) =>
    takeTurn(next, { epoch: state.lastEpoch + 1, reading: wanted, forced }),
  );
}

/** Claims an Envoy that is nobody's child, without waiting for a turn, and checks its reading. */
export function claimStandalone(state: Running, reading = state.wanted): RunningStep {
  return andThen(standalone(state, reading), (next) => (next.claim === undefined ? stay(next) : checked(next, next.claim)));
}

/** Starts an Envoy that is nobody's child at once. */
export function launchStandalone(state: Running): RunningStep {
  return andThen(standalone(state, state.wanted), launch);
}

/** Replaces what runs by an Envoy that is nobody's child, without a check. */
export function replaceByStandalone(state: Running): RunningStep {
  return andThen(standalone(state, state.wanted), replace);
}

function standalone(state: Running, reading: Reading | undefined): RunningStep {
  return andThen(withdraw(state), (next) =>
    withoutRetry({
      ...next,
      claim: reading && { epoch: next.lastEpoch + 1, reading, stage: 'checking', forced: true, standalone: true, unchecked: 0 },
      examined: undefined,
    }),
  );
}

/** The state with a claim whose reading is checked, after `delay` ms. */
export function checked(state: Running, claimed: Claim, delay = 0): RunningStep {
  return [{ ...state, claim: claimed }, [{ type: 'check', reading: claimed.reading, delay }]];
}

/** Asks for the turn of an epoch. */
export function takeTurn(state: Running, { epoch, reading, forced }: Pick<Claim, 'epoch' | 'reading' | 'forced'>): RunningStep {
  const newest = newestEpoch(state, state.lineage);
  const parent = newest && { epoch: newest.number, awaits: awaits(newest), lostChild: newest.lostChild === true };
  const numbers = (isOwn: boolean) => [...state.epochs].flatMap(([number, { lineage }]) => ((lineage === state.lineage) === isOwn ? [number] : [])); // prettier-ignore
  const older = numbers(true).filter((number) => number !== newest?.number);
  return [
    { ...state, claim: { epoch, reading, forced, stage: 'waiting' } },
    [{ type: 'await-turn', epoch, parent, older, others: numbers(false) }],
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
  return claimed === undefined ? stay(state) : andThen(withdraw(state), (next) => takeTurn(next, claimed));
}

/** Gives the claim up. */
export function withdraw(state: Running): RunningStep {
  return state.claim === undefined ? stay(state) : [{ ...state, claim: undefined }, [{ type: 'withdraw-turn', epoch: state.claim.epoch }]];
}

/**
 * The claim's turn has come: its reading is checked, but for the very first epoch, which nothing
 * delays.
 */
export function turnGranted(state: Running, epoch: number, parent: 'live' | 'gone' | 'stuck'): RunningStep {
  const { claim: claimed } = state;
  if (claimed?.epoch !== epoch || claimed.stage !== 'waiting') return stay(state);
  if (state.lastEpoch < 0) return launch(state);
  return checked(state, { ...claimed, stage: 'checking', standalone: parent === 'stuck', unchecked: 0 });
}
