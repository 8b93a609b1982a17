// Why: docs/decisions/026-a-check-without-a-verdict.md
import { checked, goOn, isHeldBack, takeTurn } from './claim.ts';
import { launch, replace } from './launch.ts';
import { appliedHash, comesUpAlone, newestEpoch } from './lineage.ts';
import type { Claim, Running } from './model.ts';
import type { Acceptance } from './ports.ts';
import { type AgentStep, stay, withRetry } from './step.ts';
import { stopAll } from './termination.ts';

/** The claim that this verdict is about; undefined where it is about one that is no more. */
function checkedClaim(
  { claim }: Running,
  hash: string,
): Extract<Claim, { readonly stage: 'checking' }> | undefined {
  return claim?.stage === 'checking' && claim.reading.hash === hash ? claim : undefined;
}

/** The reading of the claim works. */
export function accepted(
  state: Running,
  hash: string,
  how: Acceptance['kind'],
): AgentStep<Running> {
  const claimed = checkedClaim(state, hash);
  if (claimed === undefined) return stay(state);
  const standalone = claimed.standalone || how === 'works-alone';
  const next = { ...state, claim: { ...claimed, standalone } };
  if (isHeldBack(next)) return goOn(next, next.claim); // the resources went missing during the check
  const parent = newestEpoch(state, state.lineage);
  if (how === 'no-room' || (comesUpAlone(state) && !next.claim.standalone)) return replace(next);
  const isUnready =
    parent?.stage === 'starting' ||
    (parent?.stage === 'live' && !parent.answering && parent.lostChild !== true);
  return isUnready && !next.claim.standalone ? takeTurn(next, claimed) : launch(next); // it became unresponsive during the check
}

/** Before a check that came to no verdict is repeated; then the epoch starts without it. In ms. */
const repeats = [1_000, 2_000, 4_000, 8_000];
/**
 * The same where memory was short: a start without a check would need more than the check. In ms.
 */
const memoryRepeat = 60_000;

/**
 * After so many checks without a verdict: how long until the next one, in ms; undefined where the
 * epoch starts without one.
 */
export function checkPause(outOfMemory: boolean, unchecked: number): number | undefined {
  return outOfMemory ? memoryRepeat : repeats[unchecked];
}

/** The check of the claim has come to no verdict, which is no refusal. */
export function unchecked(state: Running, hash: string, outOfMemory: boolean): AgentStep<Running> {
  const claimed = checkedClaim(state, hash);
  if (claimed === undefined) return stay(state);
  const delay = checkPause(outOfMemory, claimed.unchecked);
  if (delay === undefined) return accepted(state, hash, 'works');
  return checked(state, { ...claimed, unchecked: claimed.unchecked + Number(!outOfMemory) }, delay);
}

/**
 * What is refused is checked again after so many ms, for the refusal may have been the fault of the
 * moment: a file was missing, or memory.
 */
const recheck = 30_000;

/**
 * The reading of the claim, or of the first Envoy that ended at once, cannot work. What runs goes
 * on.
 */
export function refused(state: Running, hash: string, reason: string): AgentStep {
  const refusal =
    state.refused?.hash === hash && state.refused.reason === reason
      ? state.refused
      : { hash, reason };
  if (state.examined !== undefined)
    return stopAll(
      { ...state, examined: undefined, refused: refusal },
      { kind: 'refused', reason },
    );
  if (checkedClaim(state, hash) === undefined) return stay(state);
  const next: Running = { ...state, claim: undefined, refused: refusal };
  return state.served || appliedHash(state) !== undefined
    ? withRetry(next, recheck)
    : stopAll(next, { kind: 'refused', reason });
}
