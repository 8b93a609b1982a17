import { line, type LogLine } from '../shared/log/log-line.ts';
import type { AgentTransition } from './agent.ts';
import { exitWords } from './exit-cause.ts';
import { crashPause } from './exits.ts';
import { claimOf, isStandalone } from './model.ts';

/** Shortens a hash for the log. Pure. */
export function shortHash(hash: string): string {
  return hash.slice(0, 8);
}

/**
 * Returns the log lines about the agent's decision on an event. Pure.
 *
 * @param budget the limit of crashes; 0: no limit
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
    lines.push(
      line('epoch.claimed', { epoch: claimed.epoch, hash: shortHash(claimed.reading.hash) }),
    );
  }
  const isRefused = event.type === 'config-refused';
  if (
    claimed === undefined &&
    earlier !== undefined &&
    state.lastEpoch === before.lastEpoch &&
    !isRefused
  ) {
    lines.push(line('epoch.withdrawn', { epoch: earlier.epoch }));
  }
  if (state.refused === undefined && before.refused !== undefined) {
    lines.push(line('config.refusal_ended'));
  }
  if (claimed !== undefined && isStandalone(claimed) && !isStandalone(earlier)) {
    lines.push(line('epoch.standalone', { epoch: claimed.epoch }));
  }
  if (claimed?.stage === 'fetching' && earlier?.stage !== 'fetching') {
    lines.push(line('epoch.awaits_resources', { epoch: claimed.epoch, missing: state.missing }));
  }
  if (state.lineage > before.lineage && before.lastEpoch >= 0) {
    lines.push(line('rescue.started', { epoch: state.lastEpoch }));
  }
  if (state.retried && !before.retried) lines.push(line('epoch.retried'));
  if (state.crashes > before.crashes) {
    const lastWords = event.type === 'epoch-exited' ? exitWords(event.exit) : undefined;
    lines.push(
      line('restart.scheduled', {
        attempt: state.crashes,
        of: budget === 0 ? 'no limit' : budget,
        delayMs: crashPause(state.crashes),
        ...(lastWords !== undefined && { lastWords }),
      }),
    );
  }
  if (state.phase === 'stopped') {
    if (state.epochs.size === 0) lines.push(line('agent.stopped'));
    for (const [epoch, { pid }] of state.epochs) lines.push(line('epoch.left', { epoch, pid }));
  }
  return lines;
}
