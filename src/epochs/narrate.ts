import { unreachable } from '../operators/tagged-union.ts';
import type { AgentTransition } from './agent.ts';
import type { LogLine } from '../shared/log/log-line.ts';
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
      return event.epochs.map(({ epoch, pid }) => ({
        level: 'info',
        event: 'epoch.adopted',
        msg: 'an Envoy that an earlier agent has left is adopted',
        epoch,
        pid,
      }));
    case 'files-awaited':
      return event.missing.length === 0
        ? [{ level: 'info', event: 'files.found', msg: 'the files that were waited for are there' }]
        : [
            {
              level: 'info',
              event: 'files.awaited',
              msg: 'waiting for files or sources',
              missing: event.missing,
            },
          ];
    case 'config-changed':
      return [
        ...(before.awaited.length === 0
          ? []
          : [
              {
                level: 'warn' as const,
                event: 'files.missing' as const,
                msg: 'files are still missing: the agent goes on without them',
                missing: before.awaited,
              },
            ]),
        {
          level: 'info',
          event: before.wanted === undefined ? 'config.read' : 'config.changed',
          msg: before.wanted === undefined ? 'configuration read' : 'configuration changed',
          hash: shortHash(event.reading.hash),
          ...told(event.reading.changed),
        },
      ];
    case 'config-confirmed':
      return [];
    case 'restart-requested':
      return [
        {
          level: 'info',
          event: 'restart.requested',
          msg: 'restart requested',
          by: event.by,
          hash: shortHash(event.reading.hash),
          ...told(event.reading.changed),
        },
      ];
    case 'leave-requested':
    case 'terminate-requested':
      return [
        {
          level: 'info',
          event: 'termination.requested',
          msg:
            event.type === 'leave-requested' && before.terminations === 0
              ? 'asked to end'
              : termination(before),
          by: event.by,
          active: [...before.epochs.keys()],
        },
      ];
    case 'drain-requested':
      return before.phase === 'running'
        ? [
            {
              level: 'info',
              event: 'drain.requested',
              msg: 'asked to drain: the agent goes on',
              active: [...before.epochs.keys()],
            },
          ]
        : [];
    case 'reopen-requested':
      return [{ level: 'info', event: 'log.reopened', msg: 'log files are opened anew' }];
    case 'turn-granted':
      if (claimOf(before)?.epoch !== event.epoch || event.parent !== 'stuck') return [];
      return [
        {
          level: 'warn',
          event: 'epoch.not_live',
          msg: 'the epoch before is not LIVE after 20 s: the next one starts',
          epoch: event.epoch,
        },
      ];
    case 'config-accepted':
      if (claimOf(before)?.reading.hash !== event.hash) return [];
      if (event.noRoom !== undefined)
        return [
          {
            level: 'warn',
            event: 'epoch.no_room',
            msg: 'there is no room for two Envoys: the old epoch is drained and ends before the new one starts',
            reason: event.noRoom,
          },
        ];
      return event.standalone === true
        ? [
            {
              level: 'warn',
              event: 'envoy.replaced',
              msg: 'the Envoy that runs cannot be a parent: its hot restart version is another one, or its sockets are abstract',
            },
          ]
        : [];
    case 'config-refused':
      if (
        claimOf(before)?.reading.hash !== event.hash &&
        (before.phase !== 'running' || before.examined === undefined)
      )
        return [];
      if (before.refused?.hash === event.hash && before.refused.reason === event.reason) return [];
      return [
        {
          level: 'error',
          event: 'config.refused',
          msg:
            before.epochs.size > 0
              ? 'configuration refused: the old epoch goes on'
              : 'configuration refused',
          hash: shortHash(event.hash),
          reason: event.reason,
          ...(event.excerpt !== undefined && { excerpt: event.excerpt }),
        },
      ];
    case 'config-unchecked': {
      const claimed = claimOf(before);
      if (claimed?.stage !== 'checking' || claimed.reading.hash !== event.hash) return [];
      return [
        {
          level: 'warn',
          event: 'config.unchecked',
          msg: `the configuration could not be checked: ${checkedNext(event.outOfMemory, claimed.unchecked)}`,
          hash: shortHash(event.hash),
          reason: event.reason,
        },
      ];
    }
    case 'resources-known':
      return [];
    case 'epoch-spawned':
      return [
        {
          level: [...before.epochs].some(
            ([epoch, { stage }]) => epoch !== event.epoch && stage === 'live',
          )
            ? 'debug'
            : 'info',
          event: 'epoch.started',
          msg: 'Envoy started',
          epoch: event.epoch,
          pid: event.pid,
        },
      ];
    case 'epoch-live': {
      if (before.epochs.get(event.epoch)?.stage !== 'starting') return [];
      const record = epochs.find(({ epoch }) => epoch === event.epoch);
      const draining = [...before.epochs.keys()].filter((epoch) => epoch !== event.epoch);
      return [
        {
          level: 'info',
          event: 'epoch.live',
          msg: 'epoch is LIVE',
          epoch: event.epoch,
          ...(record !== undefined && startOf(record)),
          ...(draining.length > 0 && { draining }),
        },
      ];
    }
    case 'epoch-late':
      if (!isGivenUp(before, event.epoch)) return [];
      return [
        {
          level: 'warn',
          event: 'epoch.late',
          msg: 'new epoch waits for its configuration for 20 s: it is killed, and the old one serves',
          epoch: event.epoch,
        },
      ];
    case 'epoch-unresponsive':
      if (isMute(before, event.epoch)) return [];
      return [
        {
          level: 'warn',
          event: 'epoch.unresponsive',
          msg: 'the admin endpoint is silent: not ready',
          epoch: event.epoch,
        },
      ];
    case 'epoch-answered':
      return before.epochs.get(event.epoch)?.answering === false
        ? [
            {
              level: 'info',
              event: 'epoch.answering',
              msg: 'the admin endpoint answers again',
              epoch: event.epoch,
            },
          ]
        : [];
    case 'epoch-hung':
      if (isMute(before, event.epoch)) return [];
      return [
        {
          level: 'error',
          event: 'epoch.hung',
          msg: 'Envoy hangs: it is killed',
          epoch: event.epoch,
        },
      ];
    case 'epoch-stable':
    case 'parent-expiring':
    case 'parent-expired':
      return [];
    case 'epoch-handed-off':
      if (!event.unresponsive)
        return [
          {
            level: 'info',
            event: 'epoch.handed_off',
            msg: 'epoch has no clients any more: it ends',
            epoch: event.epoch,
          },
        ];
      return [
        {
          level: 'warn',
          event: 'epoch.not_drained',
          msg: 'epoch does not answer and cannot be drained: it is killed',
          epoch: event.epoch,
        },
      ];
    case 'epoch-exited':
      return [narrateEnd(event.epoch, event.exit, before)];
    case 'retry-due':
      return [];
    case 'rescue-due':
      return isUnserved(before)
        ? [
            {
              level: 'warn',
              event: 'rescue.unserved',
              msg: 'no Envoy serves: one is started at once',
            },
          ]
        : [];
    case 'drained':
      if (before.phase !== 'draining') return [];
      return [
        {
          level: event.active === 0 ? 'info' : 'warn',
          event: 'drain.ended',
          msg: drainEnd(event.active),
          ...(event.active !== undefined && { active: event.active }),
        },
      ];
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

function checkedNext(outOfMemory: boolean, unchecked: number): string {
  const pause = checkPause(outOfMemory, unchecked);
  return pause === undefined
    ? 'the epoch starts without a check'
    : `it is checked again in ${pause / 1_000} s`;
}

function told(changed: readonly Change[]): { readonly changed?: readonly string[] } {
  return changed.length === 0 ? {} : { changed: changed.map(changeText) };
}

function termination({ phase, terminations, epochs }: AgentState): string {
  if (phase === 'running') return epochs.size === 0 ? 'asked to end' : 'asked to end: draining';
  if (terminations === 0) return 'asked to end: Envoy has drained already';
  return terminations >= 2
    ? 'asked to end again: Envoy is killed'
    : 'asked to end again: the drain is cut short';
}

function drainEnd(active: number | undefined): string {
  if (active === 0) return 'drained';
  return active === undefined
    ? 'drain time is over: what is still in flight is not known'
    : 'drain time is over: requests in flight are cut';
}
