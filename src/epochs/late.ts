// Why: docs/decisions/010-a-late-child-is-killed.md
import { backOff } from '../operators/back-off.ts';
import { claimAgain, withdraw } from './claim.ts';
import type { Epoch } from './epoch.ts';
import { isParentOf, newestEpoch, othersServe } from './lineage.ts';
import type { AgentState, Running } from './model.ts';
import { type AgentStep, stay, withEpoch, withRetry } from './step.ts';

/** The pauses before the reading of a late Envoy is claimed again. In ms. */
const pauses = { first: 30_000, longest: 300_000 };

/**
 * Handles an epoch that is not LIVE after 20 s: it waits for its configuration, or hangs in its
 * start. If another epoch serves, the late one is killed. As a child it has closed the admin
 * endpoint of its parent, and would take over with an incomplete configuration when its own wait
 * ends.
 */
export function late(state: AgentState, number: number): AgentStep {
  if (!isGivenUp(state, number)) return stay(state);
  return [withEpoch(state, number, { late: true }), [{ type: 'kill-unless-live', epoch: number }]];
}

/** Whether a late epoch is killed. */
export function isGivenUp(state: AgentState, number: number): boolean {
  return (
    state.phase === 'running' &&
    state.epochs.get(number)?.stage === 'starting' &&
    othersServe(state, number)
  );
}

/** Whether an epoch serves but does not answer questions. */
export function isMute({ epochs }: AgentState, number: number): boolean {
  return epochs.get(number)?.mute === true;
}

/**
 * Handles the end of a late epoch. Its parent goes on serving, but can have no other child: it
 * refuses with "previous envoy process is still initializing" (measured with Envoy 1.36.2). A claim
 * that has waited continues at once. Otherwise the newest reading is claimed after a pause.
 */
export function lateGone(before: Running, gone: Epoch): AgentStep<Running> {
  const state = withMuteParent(before, gone);
  const { claim: claimed } = state;
  if (claimed === undefined)
    return withRetry({ ...state, late: state.late + 1 }, backOff(pauses, state.late));
  if (!claimed.forced && claimed.reading.hash === newestEpoch(state)?.hash) return withdraw(state);
  return claimed.stage === 'waiting' ? claimAgain(state) : stay(state);
}

function withMuteParent(state: Running, gone: Epoch): Running {
  const parents = [...state.epochs].filter(([, epoch]) => isParentOf(epoch, gone));
  return parents.reduce(
    (next, [number]) => withEpoch(next, number, { mute: true, lostChild: false }),
    state,
  );
}
