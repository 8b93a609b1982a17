import type { LogLine } from '../shared/log/log-line.ts';
import type { AgentTransition } from './agent.ts';
import { exitWords } from './exit-cause.ts';
import { crashPause } from './exits.ts';
import { claimOf, isStandalone } from './model.ts';

/** Stands for a hash in the log. Pure. */
export function shortHash(hash: string): string {
  return hash.slice(0, 8);
}

/**
 * What there is to say of what the agent does about an event. Pure.
 *
 * @param budget of crashes; 0: no limit
 */
export function narrateDecision(
  { event, before, state }: AgentTransition,
  budget: number,
): readonly LogLine[] {
  const lines: LogLine[] = [];
  const [earlier, claimed] = [claimOf(before), claimOf(state)];
  const isRecheck =
    event.type === 'retry-due' &&
    before.refused !== undefined &&
    before.refused.hash === claimed?.reading.hash;
  if (claimed !== undefined && earlier === undefined && state.lastEpoch >= 0 && !isRecheck) {
    lines.push({
      level: 'debug',
      event: 'epoch.claimed',
      msg: 'new epoch is prepared',
      epoch: claimed.epoch,
      hash: shortHash(claimed.reading.hash),
    });
  }
  const isRefused = event.type === 'config-refused';
  if (
    claimed === undefined &&
    earlier !== undefined &&
    state.lastEpoch === before.lastEpoch &&
    !isRefused
  ) {
    lines.push({
      level: 'info',
      event: 'epoch.withdrawn',
      msg: 'new epoch is not needed any more',
      epoch: earlier.epoch,
    });
  }
  if (state.refused === undefined && before.refused !== undefined) {
    lines.push({
      level: 'info',
      event: 'config.refusal_ended',
      msg: 'the configuration is not refused any more',
    });
  }
  if (claimed !== undefined && isStandalone(claimed) && !isStandalone(earlier)) {
    lines.push({
      level: 'warn',
      event: 'epoch.standalone',
      msg: 'a hot restart is impossible: it starts without a parent',
      epoch: claimed.epoch,
    });
  }
  if (claimed?.stage === 'fetching' && earlier?.stage !== 'fetching') {
    lines.push({
      level: 'warn',
      event: 'epoch.awaits_resources',
      msg: 'new epoch waits for its configuration: the old one serves meanwhile',
      epoch: claimed.epoch,
      missing: state.missing,
    });
  }
  if (state.lineage > before.lineage && before.lastEpoch >= 0) {
    lines.push({
      level: 'warn',
      event: 'rescue.started',
      msg: 'rescue: the new epoch comes up beside the old one',
      epoch: state.lastEpoch,
    });
  }
  if (state.retried && !before.retried)
    lines.push({ level: 'warn', event: 'epoch.retried', msg: 'the epoch is tried again at once' });
  if (state.crashes > before.crashes) {
    const lastWords = event.type === 'epoch-exited' ? exitWords(event.exit) : undefined;
    lines.push({
      level: 'warn',
      event: 'restart.scheduled',
      msg: 'Envoy is started again after a pause',
      attempt: state.crashes,
      of: budget === 0 ? 'no limit' : budget,
      delayMs: crashPause(state.crashes),
      ...(lastWords !== undefined && { lastWords }),
    });
  }
  if (state.phase === 'stopped') {
    if (state.epochs.size === 0)
      lines.push({ level: 'info', event: 'agent.stopped', msg: 'no Envoy is left' });
    for (const [epoch, { pid }] of state.epochs)
      lines.push({
        level: 'info',
        event: 'epoch.left',
        msg: 'Envoy serves on without the agent',
        epoch,
        pid,
      });
  }
  return lines;
}
