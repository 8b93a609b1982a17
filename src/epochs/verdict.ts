// Why: docs/decisions/026-a-check-without-a-verdict.md
import { checked, goOn, isHeldBack, takeTurn } from './claim.ts';
import { launch, replace } from './launch.ts';
import { appliedHash, comesUpAlone, newestEpoch } from './lineage.ts';
import type { Claim, Running } from './model.ts';
import type { Acceptance } from './ports.ts';
import { type AgentStep, stay, withRetry } from './step.ts';
import { stopAll } from './termination.ts';

/** Returns the claim that this verdict is about; undefined if that claim no longer exists. */
function checkedClaim(
  { claim }: Running,
  hash: string,
): Extract<Claim, { readonly stage: 'checking' }> | undefined {
  return claim?.stage === 'checking' && claim.reading.hash === hash ? claim : undefined;
}

/**
 * Continues the claim, because its reading works or could not be checked. A claim that replaces
 * Envoys takes the newest reading when this is accepted.
 */
export function accepted(
  state: Running,
  hash: string,
  how: Acceptance['kind'],
): AgentStep<Running> {
  const { claim, wanted } = state;
  if (claim?.stage === 'replacing' && wanted?.hash === hash)
    return stay({ ...state, claim: { ...claim, reading: wanted } });
  const claimed = checkedClaim(state, hash);
  if (claimed === undefined) return stay(state);
  const standalone = claimed.standalone || how === 'works-alone';
  const next = { ...state, claim: { ...claimed, standalone } };
  if (isHeldBack(next)) return goOn(next, next.claim); // resources went missing during the check
  const parent = newestEpoch(state, state.lineage);
  if (how === 'no-room' || (comesUpAlone(state) && !next.claim.standalone)) return replace(next);
  const isUnready =
    parent?.stage === 'starting' ||
    (parent?.stage === 'live' && !parent.answering && parent.lostChild !== true);
  // The parent became silent during the check.
  return isUnready && !next.claim.standalone ? takeTurn(next, claimed) : launch(next);
}

/**
 * A check that came to no verdict is repeated after these pauses. If the last repeat comes to none
 * either, the epoch starts without a verdict. In ms.
 */
const repeats = [1_000, 2_000, 4_000, 8_000];
/**
 * A check that ran out of memory is repeated after this pause. The epoch never starts without this
 * check, because an Envoy needs more memory than its check. In ms.
 */
const memoryRepeat = 60_000;

/**
 * Returns the pause, in ms, after a check without a verdict, if `unchecked` checks before it had
 * none either; undefined if the epoch starts without a verdict.
 */
export function checkPause(outOfMemory: boolean, unchecked: number): number | undefined {
  return outOfMemory ? memoryRepeat : repeats[unchecked];
}

/** Handles a check that came to no verdict, which is not a refusal. */
export function unchecked(state: Running, hash: string, outOfMemory: boolean): AgentStep<Running> {
  const claimed = checkedClaim(state, hash);
  if (claimed === undefined) return stay(state);
  const delay = checkPause(outOfMemory, claimed.unchecked);
  if (delay === undefined) return accepted(state, hash, 'works');
  return checked(state, { ...claimed, unchecked: claimed.unchecked + Number(!outOfMemory) }, delay);
}

/**
 * A refused reading is checked again after this many ms, because the reason may have been
 * temporary, such as a missing file.
 */
const recheck = 30_000;

/**
 * Handles a refused reading: that of the claim, or that of the first Envoy, which ended at once. A
 * running Envoy goes on.
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
