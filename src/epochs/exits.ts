// Why: docs/decisions/011-one-retry-after-a-lost-child.md
import { backOff } from '../operators/back-off.ts';
import {
  claim,
  claimAnew,
  claimStandalone,
  launchStandalone,
  replaceByStandalone,
} from './claim.ts';
import { lateGone } from './late.ts';
import { launch } from './launch.ts';
import { isParentOf, newestEpoch, parentEndedEarly, stopLineage } from './lineage.ts';
import type { Epoch } from './epoch.ts';
import { type AgentState, claimOf, isStandalone, type Running } from './model.ts';
import type { Exit } from './ports.ts';
import { type AgentStep, andThen, stay, withRetry } from './step.ts';
import { stopAll } from './termination.ts';

/** Before an Envoy is started again after so many crashes, give or take a fifth. In ms. Pure. */
export function crashPause(crashes: number): number {
  return backOff(pauses, crashes - 1);
}

/** What a crash leads to. */
export interface RestartPolicy {
  /**
   * `exit` ends the agent with the last Envoy, as the Go agent of 1.4–1.6 did, but with the true
   * code.
   */
  readonly onCrash: 'backoff' | 'exit';
  /** Restarts after a crash before the agent gives up; 0 = no limit. */
  readonly budget: number;
}

/** Before an Envoy that has crashed is started again. In ms. */
const pauses = { first: 200, longest: 30_000 };

/**
 * Starts a crashed Envoy again after a while, or ends with it. While an older one serves there is
 * no reason to end.
 */
export function crash(state: Running, exit: Exit, { onCrash, budget }: RestartPolicy): AgentStep {
  const spent = onCrash === 'exit' || (budget !== 0 && state.crashes >= budget);
  // One that could not even be started has done no harm to the Envoy that serves, and what it
  // lacked may be there later.
  if (exit.kind === 'spawn-failed' && newestEpoch(state)?.stage === 'live')
    return withRetry(state, pauses.longest);
  if (!spent)
    return withRetry({ ...state, crashes: state.crashes + 1 }, crashPause(state.crashes + 1));
  return newestEpoch(state)?.stage === 'live'
    ? stay(state)
    : stopAll(state, { kind: 'envoy', exit });
}

/** The last Envoy is gone, and nobody had asked for it. */
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
 * A child is gone, its parent is there: the next child follows at once, but once only. What that
 * one ends with tells how the parent is.
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
 * A standalone Envoy that was to replace others side by side is gone. They go on, unless nobody
 * serves or nobody may run beside them.
 */
function neighbourGone(state: Running, gone: Epoch, exit: Exit, policy: RestartPolicy): AgentStep {
  const serves = [...state.epochs.values()].some(
    ({ stage, answering }) => stage === 'live' && answering,
  );
  const inTheWay = gone.stage === 'starting' && (exit.kind === 'spawn-failed' || !serves);
  return inTheWay ? replaceByStandalone(state) : crash(state, exit, policy);
}

/** A process has ended: what becomes of the others, and whether the agent starts another one. */
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
  // Where a lineage has never served, the one before stays the current one.
  const lineage =
    gone.stage === 'starting' && relative === undefined && survivor !== undefined
      ? survivor.lineage
      : before.lineage;
  const state: AgentState = { ...before, epochs, lineage };
  const parent = relative !== undefined && relative.number < number ? relative : undefined;
  const child = relative !== undefined && relative.number > number ? relative : undefined;
  const toldBy = exit.kind === 'clean' ? 'child' : 'agent';

  if (state.phase !== 'running') {
    if (survivor === undefined) return stopAll(state, outcomeOf(state, exit));
    return gone.stage === 'stopping' && parent !== undefined
      ? stopLineage(state, gone.lineage, toldBy)
      : stay(state);
  }
  const { claim: claimed } = state;
  if (survivor === undefined && wasTold(before, gone, exit)) return lastGone(state, exit, policy);
  if (claimed?.stage === 'replacing' && survivor === undefined) return launch(state);
  if (claimed?.stage === 'replacing' || gone.lineage !== before.lineage) {
    return parent === undefined ? stay(state) : stopLineage(state, gone.lineage, toldBy);
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
    (next): AgentStep => {
      if (gone.late === true) return lateGone(next, gone);
      // A child that was silent while it came up has hung on its parent, which is silent too.
      if (parent !== undefined && gone.stage === 'starting' && !gone.answering)
        return launchStandalone(next);
      // The claim has waited for it. Those that are left have a turn of their own to wait for, or
      // none.
      if (next.claim?.stage === 'waiting' && gone.stage !== 'draining')
        return claimAnew({ ...next, retried: true });
      // Where it drains, its child went first and comes back: neither a crash nor a reason to end.
      if (next.claim !== undefined || gone.stage === 'draining') return stay(next);
      if (exit.kind === 'clean' && gone.stage === 'live')
        return stopAll(next, { kind: 'envoy', exit });
      return parent === undefined
        ? neighbourGone(next, gone, exit, policy)
        : childGone(next, gone, parent, exit, policy);
    },
  );
}

/**
 * Somebody has told an Envoy to end that serves: it has told its parent first, whose end then looks
 * as one before its time. What was claimed for that is not needed. An Envoy that has lost its
 * parent aborts.
 */
function wasTold(before: AgentState, gone: Epoch, exit: Exit): boolean {
  const claimed = claimOf(before);
  const isForParent =
    isStandalone(claimed) && claimed?.reading.hash === gone.hash && parentEndedEarly(before);
  return isForParent && gone.stage === 'live' && exit.kind === 'clean';
}

/**
 * The processes without the one that has ended. To its child that makes no difference if it was
 * about to tell it to end, and it has ended in order. Its parent has lost a child, if that was
 * coming up.
 */
function without(
  before: AgentState['epochs'],
  gone: Epoch & { readonly number: number },
  exit: Exit,
): ReadonlyMap<number, Epoch> {
  const hasLostChild = (epoch: Epoch) => gone.stage === 'starting' && isParentOf(epoch, gone);
  const hasTold = (epoch: Epoch) =>
    exit.kind === 'clean' && epoch.parentTime === 'ending' && isParentOf(gone, epoch);
  const left = [...before].filter(([number]) => number !== gone.number);
  return new Map(
    left.map(([number, epoch]) => [
      number,
      {
        ...epoch,
        ...(hasTold(epoch) && { parentTime: 'over' as const }),
        ...(hasLostChild(epoch) && { lostChild: true }),
      },
    ]),
  );
}

function outcomeOf(state: Exclude<AgentState, Running>, exit: Exit) {
  if (state.phase !== 'draining') return state.outcome;
  return state.terminations > 0 ? ({ kind: 'asked' } as const) : ({ kind: 'envoy', exit } as const);
}
