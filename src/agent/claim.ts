import { launch, replace } from './launch.ts';
import { newestEpoch, parentEndedEarly } from './lineage.ts';
import type { AwaitedParent, Claim, Effect, Epoch, Running } from './model.ts';
import type { Reading } from './ports.ts';
import { type AgentStep, andThen, stay } from './step.ts';

type RunningStep = AgentStep<Running>;

/**
 * Claims the next epoch for the newest reading. A claim that exists takes that reading: one epoch at a time comes up, and the newest wins. Without a
 * reading nothing is claimed: the first one claims by itself.
 */
export function claim(state: Running, forced = false): RunningStep {
  const { claim: claimed, wanted } = state;
  if (wanted === undefined) return stay(state);
  if (claimed !== undefined) {
    const next = { ...claimed, reading: wanted, forced: forced || claimed.forced };
    return [{ ...state, claim: next }, next.stage === 'checking' ? [{ type: 'check', reading: wanted }] : []];
  }
  if (parentEndedEarly(state)) return claimStandalone(state, wanted);
  return andThen([{ ...state, examined: undefined }, [{ type: 'cancel-retry' }]], (next) =>
    takeTurn(next, { epoch: state.lastEpoch + 1, reading: wanted, forced }),
  );
}

/** Claims an Envoy that is nobody's child, without waiting for a turn, and checks its reading. */
export function claimStandalone(state: Running, reading = state.wanted): RunningStep {
  return andThen(standalone(state, reading), (next) => [next, checkOf(next)]);
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
  return andThen(withdraw(state), (next) => [
    {
      ...next,
      claim: reading && { epoch: next.lastEpoch + 1, reading, stage: 'checking', forced: true, standalone: true },
      examined: undefined,
    },
    [{ type: 'cancel-retry' }],
  ]);
}

function checkOf({ claim: claimed }: Running): readonly Effect[] {
  return claimed === undefined ? [] : [{ type: 'check', reading: claimed.reading }];
}

function takeTurn(state: Running, { epoch, reading, forced }: Pick<Claim, 'epoch' | 'reading' | 'forced'>): RunningStep {
  const newest = newestEpoch(state, state.lineage);
  const parent = newest && { epoch: newest.number, awaits: awaits(newest) };
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
  return stage === 'live' && !answering ? 'epoch-answered' : undefined;
}

/** Gives the claim up. */
export function withdraw(state: Running): RunningStep {
  return state.claim === undefined ? stay(state) : [{ ...state, claim: undefined }, [{ type: 'withdraw-turn', epoch: state.claim.epoch }]];
}

/** The claim's turn has come: its reading is checked, but for the very first epoch, which nothing delays. */
export function turnGranted(state: Running, epoch: number, parent: 'live' | 'gone' | 'stuck'): RunningStep {
  const { claim: claimed } = state;
  if (claimed?.epoch !== epoch || claimed.stage !== 'waiting') return stay(state);
  if (state.lastEpoch < 0) return launch(state);
  const next: Running = { ...state, claim: { ...claimed, stage: 'checking', standalone: parent === 'stuck' } };
  return [next, checkOf(next)];
}

/** The reading of the claim works. `noRoom`: not while another Envoy runs. */
export function accepted(state: Running, hash: string, isStandalone: boolean, noRoom: boolean): RunningStep {
  const { claim: claimed } = state;
  if (claimed?.stage !== 'checking' || claimed.reading.hash !== hash) return stay(state);
  const next = { ...state, claim: { ...claimed, standalone: claimed.standalone || isStandalone } };
  const parent = newestEpoch(state, state.lineage);
  if (noRoom) return replace(next);
  if (next.claim.standalone || parent === undefined || awaits(parent) === undefined) return launch(next);
  return takeTurn(next, claimed); // the parent became unresponsive during the check
}
