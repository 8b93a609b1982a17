// Why: docs/decisions/011-one-retry-after-a-lost-child.md
import { backOff } from '../operators/back-off.ts';
import {
  claim,
  claimAgain,
  claimStandalone,
  launchReplacement,
  launchStandalone,
  replaceByStandalone,
} from './claim.ts';
import { lateGone } from './late.ts';
import { isParentOf, newestEpoch, parentEndedEarly, stopLineage } from './lineage.ts';
import type { Epoch } from './epoch.ts';
import { type AgentState, claimOf, isStandalone, type Running } from './model.ts';
import type { Exit } from './ports.ts';
import { type AgentStep, andThen, stay, withRetry } from './step.ts';
import { stopAll } from './termination.ts';

/**
 * Returns the pause, in ms, before an Envoy is started again after this many crashes. The real
 * pause is up to a fifth longer or shorter. Pure.
 */
export function crashPause(crashes: number): number {
  return backOff(pauses, crashes - 1);
}

/** The policy after a crash. */
export interface RestartPolicy {
  /**
   * `exit` ends the agent with the last Envoy, as the Go agent of 1.4–1.6 did, but with the true
   * exit code.
   */
  readonly onCrash: 'backoff' | 'exit';
  /** Restarts after a crash before the agent gives up; 0 = no limit. */
  readonly budget: number;
}

/** The pauses before a crashed Envoy is started again. In ms. */
const pauses = { first: 200, longest: 30_000 };

/**
 * Starts a crashed Envoy again after a pause, or ends the agent with it. The agent does not end
 * while an older Envoy serves.
 */
export function crash(state: Running, exit: Exit, { onCrash, budget }: RestartPolicy): AgentStep {
  const spent = onCrash === 'exit' || (budget !== 0 && state.crashes >= budget);
  // An Envoy that could not be started did no harm to the one that serves, and what it lacked may
  // be there later.
  if (exit.kind === 'spawn-failed' && newestEpoch(state)?.stage === 'live')
    return withRetry(state, pauses.longest);
  if (!spent)
    return withRetry({ ...state, crashes: state.crashes + 1 }, crashPause(state.crashes + 1));
  return newestEpoch(state)?.stage === 'live'
    ? stay(state)
    : stopAll(state, { kind: 'envoy', exit });
}

/** Handles the end of the last Envoy, which nobody requested. */
function lastGone(state: Running, exit: Exit, policy: RestartPolicy): AgentStep {
  if (exit.kind === 'clean' || (!state.served && exit.kind === 'spawn-failed'))
    return stopAll(state, { kind: 'envoy', exit });
  if (state.served || exit.kind !== 'failed' || exit.code !== 1 || state.wanted === undefined)
    return crash(state, exit, policy);
  if (exit.addressTaken !== undefined)
    return stopAll(state, { kind: 'address-taken', address: exit.addressTaken });
  if (exit.addressDenied !== undefined)
    return stopAll(state, { kind: 'address-denied', address: exit.addressDenied });
  return [{ ...state, examined: exit }, [{ type: 'check', reading: state.wanted, delay: 0 }]];
}

/**
 * Handles the end of a child whose parent is there. The next child follows at once, but only once.
 * The end of that child shows whether the parent can have a child.
 */
function childGone(
  state: Running,
  gone: Epoch,
  parent: Epoch,
  exit: Exit,
  policy: RestartPolicy,
): AgentStep {
  if (policy.onCrash === 'exit') return crash(state, exit, policy);
  if (!state.retried) return claim({ ...state, retried: true }, 'unforced');
  const refused =
    exit.kind === 'failed' &&
    exit.code === 1 &&
    exit.addressTaken === undefined &&
    exit.addressDenied === undefined;
  const hopeless = gone.stage === 'starting' && (refused || parent.stage === 'draining');
  return hopeless ? launchStandalone(state) : crash(state, exit, policy);
}

/**
 * Handles the end of a standalone Envoy that was to replace others side by side. The others go on,
 * unless none of them serves or nothing may run beside them.
 */
function neighbourGone(state: Running, gone: Epoch, exit: Exit, policy: RestartPolicy): AgentStep {
  const serves = [...state.epochs.values()].some(
    ({ stage, answering }) => stage === 'live' && answering,
  );
  const inTheWay = gone.stage === 'starting' && (exit.kind === 'spawn-failed' || !serves);
  return inTheWay ? replaceByStandalone(state) : crash(state, exit, policy);
}

/**
 * Handles the end of a process: decides what happens to the others, and whether the agent starts
 * another one.
 */
export function exited(
  before: AgentState,
  number: number,
  exit: Exit,
  policy: RestartPolicy,
): AgentStep {
  const gone = before.epochs.get(number);
  if (gone === undefined) return stay(before);
  const epochs = without(before.epochs, { ...gone, number }, exit);
  const survivor = newestEpoch({ epochs });
  const relative = newestEpoch({ epochs }, gone.lineage);
  // If a lineage has never served, the one before stays the current one.
  const lineage =
    gone.stage === 'starting' && relative === undefined && survivor !== undefined
      ? survivor.lineage
      : before.lineage;
  const state: AgentState = { ...before, epochs, lineage };
  const parent = relative !== undefined && relative.number < number ? relative : undefined;
  const child = relative !== undefined && relative.number > number ? relative : undefined;
  const requester = exit.kind === 'clean' ? 'child' : 'agent';

  if (state.phase !== 'running') {
    if (survivor === undefined) return stopAll(state, outcomeOf(state, exit));
    return gone.stage === 'stopping' && parent !== undefined
      ? stopLineage(state, gone.lineage, requester)
      : stay(state);
  }
  const { claim: claimed } = state;
  if (survivor === undefined && wasAskedToEnd(before, gone, exit))
    return lastGone(state, exit, policy);
  if (claimed?.stage === 'replacing' && survivor === undefined) return launchReplacement(state);
  if (claimed?.stage === 'replacing' || gone.lineage !== before.lineage) {
    return parent === undefined ? stay(state) : stopLineage(state, gone.lineage, requester);
  }
  if (child !== undefined) {
    return parentEndedEarly(state) && !isStandalone(claimed) ? claimStandalone(state) : stay(state);
  }
  if (survivor === undefined) {
    return claimed !== undefined || gone.stage === 'draining'
      ? stay(state)
      : lastGone(state, exit, policy);
  }
  return andThen(
    [state, [{ type: 'follow', epoch: survivor.number, isChild: false }]],
    (next): AgentStep => newestGone(next, gone, parent, exit, policy),
  );
}

/** Handles the end of the newest Envoy while others run: a late one, a child, or a neighbour. */
function newestGone(
  state: Running,
  gone: Epoch,
  parent: Epoch | undefined,
  exit: Exit,
  policy: RestartPolicy,
): AgentStep {
  if (gone.late === true) return lateGone(state, gone);
  // The child was silent while it came up, so it hung on its parent, which is silent too.
  if (parent !== undefined && gone.stage === 'starting' && !gone.answering)
    return launchStandalone(state);
  // The claim has waited for this epoch. The epochs that are left need another turn, or none.
  if (state.claim?.stage === 'waiting' && gone.stage !== 'draining')
    return claimAgain({ ...state, retried: true });
  // If the ended Envoy was draining, its child has ended before it, and is started again. So this
  // end is neither a crash nor a reason to end the agent.
  if (state.claim !== undefined || gone.stage === 'draining') return stay(state);
  if (exit.kind === 'clean' && gone.stage === 'live')
    return stopAll(state, { kind: 'envoy', exit });
  return parent === undefined
    ? neighbourGone(state, gone, exit, policy)
    : childGone(state, gone, parent, exit, policy);
}

/**
 * Whether another program asked an Envoy that serves to end. Such an Envoy asks its parent to end
 * first, so the parent seems to end too early, and an epoch is claimed for it. That claim is not
 * needed. An Envoy that ends because it lost its parent does not end cleanly: it aborts.
 */
function wasAskedToEnd(before: AgentState, gone: Epoch, exit: Exit): boolean {
  const claimed = claimOf(before);
  const isForParent =
    isStandalone(claimed) && claimed?.reading.hash === gone.hash && parentEndedEarly(before);
  return isForParent && gone.stage === 'live' && exit.kind === 'clean';
}

/**
 * Returns the processes without the one that ended. If that process ended cleanly when its child
 * was about to ask for this, the child's parent time is over. If that process was coming up, its
 * parent has lost a child.
 */
function without(
  before: AgentState['epochs'],
  gone: Epoch & { readonly number: number },
  exit: Exit,
): ReadonlyMap<number, Epoch> {
  const hasLostChild = (epoch: Epoch) => gone.stage === 'starting' && isParentOf(epoch, gone);
  const hasEndedParent = (epoch: Epoch) =>
    exit.kind === 'clean' && epoch.parentTime === 'ending' && isParentOf(gone, epoch);
  const left = [...before].filter(([number]) => number !== gone.number);
  return new Map(
    left.map(([number, epoch]) => [
      number,
      {
        ...epoch,
        ...(hasEndedParent(epoch) && { parentTime: 'over' as const }),
        ...(hasLostChild(epoch) && { lostChild: true }),
      },
    ]),
  );
}

function outcomeOf(state: Exclude<AgentState, Running>, exit: Exit) {
  if (state.phase !== 'draining') return state.outcome;
  return state.terminations > 0 ? ({ kind: 'asked' } as const) : ({ kind: 'envoy', exit } as const);
}
