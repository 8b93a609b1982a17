import type { EpochConfig } from './ports.ts';
import { unreachable } from '../operators/tagged-union.ts';
import { adopt } from './adoption.ts';
import { claim, launchStandalone, released, turnGranted, withdraw } from './claim.ts';
import { crash, exited, type RestartPolicy } from './exits.ts';
import { live } from './launch.ts';
import { isMute, late } from './late.ts';
import {
  appliedHash,
  isUnserved,
  killLineage,
  newestEpoch,
  parentEndedEarly,
  stopLineage,
  withParentTime,
} from './lineage.ts';
import { type AgentEvent, type AgentState, claimOf, type Effect, type Running } from './model.ts';
import type { Reading } from '../streams/reading.ts';
import { type AgentStep, andThen, stay, withEpoch, withoutRetry } from './step.ts';
import { drain, leave, stopAll, terminate } from './termination.ts';
import { accepted, refused, unchecked } from './verdict.ts';

/**
 * Makes the pure core, which decides how the agent reacts to an event. No I/O, no clock, no log.
 */
export function reducer(
  policy: RestartPolicy,
): (state: AgentState, event: AgentEvent) => AgentStep {
  const decide = decisions(policy);
  return (before, event) => {
    const [state, effects] = andThen(decide(before, event), released);
    const is = isUnserved(state);
    return [
      state,
      is === isUnserved(before)
        ? effects
        : [...effects, { type: is ? 'await-rescue' : 'cancel-rescue' }],
    ];
  };
}

function decisions(policy: RestartPolicy): (state: AgentState, event: AgentEvent) => AgentStep {
  return (state, event) => {
    switch (event.type) {
      case 'epochs-adopted':
        return adopt(state, event.epochs);
      case 'files-awaited':
        return stay({ ...state, awaited: event.missing });
      case 'config-changed': {
        const next: AgentState = { ...state, wanted: event.reading, awaited: [] };
        return next.phase === 'running' ? changed(next, event.reading) : stay(next);
      }
      case 'config-confirmed':
        return stay(confirmed(state, event.reading));
      case 'restart-requested':
        return state.phase === 'running'
          ? claim({ ...state, wanted: event.reading, late: 0 }, 'forced')
          : stay(state);
      case 'terminate-requested':
        return terminate(state);
      case 'leave-requested':
        return leave(state);
      case 'drain-requested':
        return state.phase === 'running' ? drain(state) : stay(state);
      case 'reopen-requested': // an Envoy that starts has no handler yet, and would die
        return [
          state,
          numbersOf(state, ({ stage }) => stage !== 'starting').map((epoch): Effect => ({
            type: 'reopen',
            epoch,
          })),
        ];
      case 'resources-known':
        return stay({ ...state, missing: event.missing });
      case 'turn-granted':
        return state.phase === 'running'
          ? turnGranted(state, event.epoch, event.parent)
          : stay(state);
      case 'config-accepted':
      case 'config-unchecked':
        return state.phase === 'running' ? checked(state, event, policy) : stay(state);
      case 'config-refused':
        return state.phase === 'running' ? refused(state, event.hash, event.reason) : stay(state);
      case 'retry-due':
        return state.phase === 'running'
          ? claim({ ...state, retrying: false }, 'unforced')
          : stay(state);
      case 'rescue-due':
        return state.phase === 'running' && isUnserved(state)
          ? launchStandalone(state)
          : stay(state);
      case 'drained':
        return state.phase === 'draining' ? stopAll(state, { kind: 'asked' }) : stay(state);
      default:
        return happened(state, event, policy);
    }
  };
}

/** An event of one process, such as its start, its health or its end. */
type EpochEvent = Extract<AgentEvent, { readonly type: `epoch-${string}` | `parent-${string}` }>;

/** Decides how the agent reacts to what happens to an epoch. */
function happened(state: AgentState, event: EpochEvent, policy: RestartPolicy): AgentStep {
  switch (event.type) {
    case 'epoch-spawned':
      return stay(withEpoch(state, event.epoch, { pid: event.pid }));
    case 'epoch-live':
      return live(state, event.epoch);
    case 'epoch-late':
      return late(state, event.epoch);
    case 'epoch-unresponsive':
      return stay(
        isMute(state, event.epoch) ? state : withEpoch(state, event.epoch, { answering: false }),
      );
    case 'epoch-answered':
      return stay(withEpoch(state, event.epoch, { answering: true, lostChild: false }));
    case 'epoch-hung':
      return [
        state,
        state.epochs.has(event.epoch) && !isMute(state, event.epoch)
          ? [{ type: 'kill', epoch: event.epoch }]
          : [],
      ];
    case 'epoch-stable':
      return stay(
        newestEpoch(state)?.number === event.epoch
          ? { ...state, crashes: 0, retried: false }
          : state,
      );
    case 'parent-expiring':
      return stay(withParentTime(state, event.epoch, 'ending'));
    case 'parent-expired':
      return stay(withParentTime(state, event.epoch, 'over'));
    case 'epoch-handed-off': {
      const lineage = state.epochs.get(event.epoch)?.lineage;
      if (
        lineage === undefined ||
        (lineage === state.lineage && claimOf(state)?.stage !== 'replacing')
      )
        return stay(state);
      return event.unresponsive
        ? killLineage(state, lineage)
        : stopLineage(state, lineage, 'agent');
    }
    case 'epoch-exited':
      return exited(state, event.epoch, event.exit, policy);
    default:
      return unreachable(event);
  }
}

function checked(
  state: Running,
  event: Extract<AgentEvent, { readonly type: 'config-accepted' | 'config-unchecked' }>,
  policy: RestartPolicy,
): AgentStep {
  if (state.examined !== undefined)
    return crash({ ...state, examined: undefined }, state.examined, policy);
  return event.type === 'config-unchecked'
    ? unchecked(state, event.hash, event.outOfMemory)
    : accepted(state, event.hash, event.verdict.kind);
}

/**
 * Claims an epoch for a new reading, unless it is the running one: then the claim for another
 * reading is withdrawn.
 */
function changed(state: Running, { hash }: Reading<EpochConfig>): AgentStep {
  const refilled: Running = { ...state, crashes: 0, retried: false, late: 0 };
  if (hash !== appliedHash(state) || state.claim?.forced === true || parentEndedEarly(state))
    return claim(refilled, 'unforced');
  return andThen(withoutRetry({ ...refilled, refused: undefined }), withdraw);
}

/**
 * Takes over a reading in which at most the facts changed. A claim that is not checked yet takes it
 * too.
 */
function confirmed(state: AgentState, reading: Reading<EpochConfig>): AgentState {
  if (state.wanted?.hash !== reading.hash) return state;
  const next: AgentState = { ...state, wanted: reading };
  if (next.phase !== 'running' || next.claim?.reading.hash !== reading.hash) return next;
  return next.claim.stage === 'waiting' || next.claim.stage === 'fetching'
    ? { ...next, claim: { ...next.claim, reading } }
    : next;
}

function numbersOf(
  { epochs }: AgentState,
  has: (epoch: { readonly stage: string }) => boolean,
): readonly number[] {
  return [...epochs].flatMap(([number, epoch]) => (has(epoch) ? [number] : []));
}
