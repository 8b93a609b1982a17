import { line } from '../shared/log/log-line.ts';
import { isGivenUp, isMute } from './late.ts';
import { isUnserved } from './lineage.ts';
import { type AgentState, claimOf } from './model.ts';
import { narrateEnd } from './narrate-end.ts';
import { type Narrators, nothing } from './narrator.ts';
import type { EpochRecord } from './timeline.ts';

/** The log lines about an epoch, from its turn to its end. */
export const epochNarrators: Narrators<
  | 'epochs-adopted'
  | 'turn-granted'
  | 'epoch-spawned'
  | 'epoch-live'
  | 'epoch-late'
  | 'epoch-unresponsive'
  | 'epoch-answered'
  | 'epoch-hung'
  | 'epoch-stable'
  | 'parent-expiring'
  | 'parent-expired'
  | 'epoch-handed-off'
  | 'epoch-exited'
  | 'retry-due'
  | 'rescue-due'
> = {
  'epochs-adopted': ({ epochs }) =>
    epochs.map(({ epoch, pid }) => line('epoch.adopted', { epoch, pid })),
  'turn-granted': ({ epoch, parent }, before) =>
    claimOf(before)?.epoch === epoch && parent === 'stuck'
      ? [line('epoch.not_live', { epoch })]
      : [],
  'epoch-spawned': ({ epoch, pid }, before) => [
    line('epoch.started', { epoch, pid }, isOtherLive(epoch, before) ? 'beside' : 'alone'),
  ],
  'epoch-live': ({ epoch }, before, epochs) => {
    if (before.epochs.get(epoch)?.stage !== 'starting') return [];
    const record = epochs.find((entry) => entry.epoch === epoch);
    const draining = [...before.epochs.keys()].filter((other) => other !== epoch);
    const start = record === undefined ? {} : startOf(record);
    return [line('epoch.live', { epoch, ...start, ...(draining.length > 0 && { draining }) })];
  },
  'epoch-late': ({ epoch }, before) =>
    isGivenUp(before, epoch) ? [line('epoch.late', { epoch })] : [],
  'epoch-unresponsive': ({ epoch }, before) =>
    isMute(before, epoch) ? [] : [line('epoch.unresponsive', { epoch })],
  'epoch-answered': ({ epoch }, before) =>
    before.epochs.get(epoch)?.answering === false ? [line('epoch.answering', { epoch })] : [],
  'epoch-hung': ({ epoch }, before) =>
    isMute(before, epoch) ? [] : [line('epoch.hung', { epoch })],
  'epoch-stable': nothing,
  'parent-expiring': nothing,
  'parent-expired': nothing,
  'epoch-handed-off': ({ epoch, unresponsive }) => [
    line(unresponsive ? 'epoch.not_drained' : 'epoch.handed_off', { epoch }),
  ],
  'epoch-exited': ({ epoch, exit }, before) => [narrateEnd(epoch, exit, before)],
  'retry-due': nothing,
  'rescue-due': (_, before) => (isUnserved(before) ? [line('rescue.unserved')] : []),
};

function startOf({ pid, why, launchedAt, liveAt }: EpochRecord): object {
  return {
    pid,
    why,
    ...(liveAt !== undefined && why !== 'adopted' && { startMs: liveAt - launchedAt }),
  };
}

function isOtherLive(ownEpoch: number, { epochs }: AgentState): boolean {
  return [...epochs].some(([epoch, { stage }]) => epoch !== ownEpoch && stage === 'live');
}
