import { unreachable } from '../operators/tagged-union.ts';
import type { AgentTransition } from './agent.ts';
import { line, type LogLine } from '../shared/log/log-line.ts';
import { changeText } from './causes.ts';
import { isGivenUp, isMute } from './late.ts';
import { isUnserved } from './lineage.ts';
import { type AgentState, claimOf } from './model.ts';
import { narrateDecision, shortHash } from './narrate-decision.ts';
import { narrateEnd } from './narrate-end.ts';
import type { Change } from '../streams/reading.ts';
import type { EpochRecord } from './timeline.ts';
import { checkPause } from './verdict.ts';

/**
 * What there is to say of a transition, in the order in which it is to be read: what happened, then
 * what the agent does about it. Of a hot restart that goes well three lines are for everybody: what
 * has changed, that the new epoch is LIVE, and the end of the old one. Pure.
 *
 * @param epochs what is known of them after the transition
 * @param budget of crashes; 0: no limit
 */
export function narrate(
  { event, before, state }: AgentTransition,
  epochs: readonly EpochRecord[],
  budget: number,
): readonly LogLine[] {
  return [...happened(event, before, epochs), ...narrateDecision({ event, before, state }, budget)];
}

function happened(
  event: AgentTransition['event'],
  before: AgentState,
  epochs: readonly EpochRecord[],
): readonly LogLine[] {
  switch (event.type) {
    case 'epochs-adopted':
      return event.epochs.map(({ epoch, pid }) => line('epoch.adopted', { epoch, pid }));
    case 'files-awaited':
      return event.missing.length === 0
        ? [line('files.found')]
        : [line('files.awaited', { missing: event.missing })];
    case 'config-changed':
      return [
        ...(before.awaited.length === 0
          ? []
          : [line('files.missing', { missing: before.awaited })]),
        line(before.wanted === undefined ? 'config.read' : 'config.changed', {
          hash: shortHash(event.reading.hash),
          ...told(event.reading.changed),
        }),
      ];
    case 'config-confirmed':
      return [];
    case 'restart-requested':
      return [
        line('restart.requested', {
          by: event.by,
          hash: shortHash(event.reading.hash),
          ...told(event.reading.changed),
        }),
      ];
    case 'leave-requested':
    case 'terminate-requested':
      return [
        line(
          'termination.requested',
          { by: event.by, active: [...before.epochs.keys()] },
          event.type === 'leave-requested' && before.terminations === 0
            ? 'plain'
            : termination(before),
        ),
      ];
    case 'drain-requested':
      return before.phase === 'running'
        ? [line('drain.requested', { active: [...before.epochs.keys()] })]
        : [];
    case 'reopen-requested':
      return [line('log.reopened')];
    case 'turn-granted':
      if (claimOf(before)?.epoch !== event.epoch || event.parent !== 'stuck') return [];
      return [line('epoch.not_live', { epoch: event.epoch })];
    case 'config-accepted':
      if (claimOf(before)?.reading.hash !== event.hash) return [];
      if (event.noRoom !== undefined) return [line('epoch.no_room', { reason: event.noRoom })];
      return event.standalone === true ? [line('envoy.replaced')] : [];
    case 'config-refused':
      if (
        claimOf(before)?.reading.hash !== event.hash &&
        (before.phase !== 'running' || before.examined === undefined)
      )
        return [];
      if (before.refused?.hash === event.hash && before.refused.reason === event.reason) return [];
      return [
        line(
          'config.refused',
          {
            hash: shortHash(event.hash),
            reason: event.reason,
            ...(event.excerpt !== undefined && { excerpt: event.excerpt }),
          },
          before.epochs.size > 0 ? 'old' : 'none',
        ),
      ];
    case 'config-unchecked': {
      const claimed = claimOf(before);
      if (claimed?.stage !== 'checking' || claimed.reading.hash !== event.hash) return [];
      const pause = checkPause(event.outOfMemory, claimed.unchecked);
      return [
        line(
          'config.unchecked',
          { hash: shortHash(event.hash), reason: event.reason },
          ...(pause === undefined ? (['started'] as const) : (['again', pause / 1_000] as const)),
        ),
      ];
    }
    case 'resources-known':
      return [];
    case 'epoch-spawned':
      return [
        line('epoch.started', { epoch: event.epoch, pid: event.pid }, besides(event, before)),
      ];
    case 'epoch-live': {
      if (before.epochs.get(event.epoch)?.stage !== 'starting') return [];
      const record = epochs.find(({ epoch }) => epoch === event.epoch);
      const draining = [...before.epochs.keys()].filter((epoch) => epoch !== event.epoch);
      return [
        line('epoch.live', {
          epoch: event.epoch,
          ...(record !== undefined && startOf(record)),
          ...(draining.length > 0 && { draining }),
        }),
      ];
    }
    case 'epoch-late':
      if (!isGivenUp(before, event.epoch)) return [];
      return [line('epoch.late', { epoch: event.epoch })];
    case 'epoch-unresponsive':
      if (isMute(before, event.epoch)) return [];
      return [line('epoch.unresponsive', { epoch: event.epoch })];
    case 'epoch-answered':
      return before.epochs.get(event.epoch)?.answering === false
        ? [line('epoch.answering', { epoch: event.epoch })]
        : [];
    case 'epoch-hung':
      if (isMute(before, event.epoch)) return [];
      return [line('epoch.hung', { epoch: event.epoch })];
    case 'epoch-stable':
    case 'parent-expiring':
    case 'parent-expired':
      return [];
    case 'epoch-handed-off':
      if (!event.unresponsive) return [line('epoch.handed_off', { epoch: event.epoch })];
      return [line('epoch.not_drained', { epoch: event.epoch })];
    case 'epoch-exited':
      return [narrateEnd(event.epoch, event.exit, before)];
    case 'retry-due':
      return [];
    case 'rescue-due':
      return isUnserved(before) ? [line('rescue.unserved')] : [];
    case 'drained':
      if (before.phase !== 'draining') return [];
      return [drainEnd(event.active)];
    default:
      return unreachable(event);
  }
}

function startOf({ pid, why, launchedAt, liveAt }: EpochRecord): object {
  return {
    pid,
    why,
    ...(liveAt !== undefined && why !== 'adopted' && { startMs: liveAt - launchedAt }),
  };
}

function told(changed: readonly Change[]): { readonly changed?: readonly string[] } {
  return changed.length === 0 ? {} : { changed: changed.map(changeText) };
}

/** Whether an Envoy is started while another one is LIVE. */
function besides({ epoch: own }: { readonly epoch: number }, { epochs }: AgentState) {
  return [...epochs].some(([epoch, { stage }]) => epoch !== own && stage === 'live')
    ? 'beside'
    : 'alone';
}

function termination({ phase, terminations, epochs }: AgentState) {
  if (phase === 'running') return epochs.size === 0 ? 'plain' : 'draining';
  if (terminations === 0) return 'drained';
  return terminations >= 2 ? 'killed' : 'cutShort';
}

function drainEnd(active: number | undefined): LogLine {
  if (active === undefined) return line('drain.ended', {}, 'unknown');
  return line('drain.ended', { active }, active === 0 ? 'drained' : 'cut');
}
