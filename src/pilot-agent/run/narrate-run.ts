import { narrate } from '../../epochs/narrate.ts';
import { isSupported, supportedReleases } from '../envoy/supported-envoys.ts';
import { line, type LogLine } from '../../shared/log/log-line.ts';
import type { Fold } from '../../operators/feedback.ts';
import { narrateExpiry } from '../secrets/secret-telemetry.ts';
import { exitCodes, seeExit } from '../../shared/program/exit.ts';
import { narrateSources } from './narrate-sources.ts';
import { narrateStatus } from './narrate-status.ts';
import { partLine } from './state/part.ts';
import { exitOf, type ProgramExit } from './end/program-exit.ts';
import type { RunEvent, RunView } from './state/view.ts';

/** Returns the log lines for something that happened in a run. Pure. */
export function narrateRun(step: Fold<RunView, RunEvent>): readonly LogLine[] {
  return [...narrateLife(step), ...narrateSources(step), ...narrateStatus(step.value.sign)];
}

/** Returns the lines that concern neither the sources nor the status server. */
function narrateLife({
  value: { sign },
  before,
  state,
}: Fold<RunView, RunEvent>): readonly LogLine[] {
  switch (sign.type) {
    case 'transition':
      return [
        ...narrate(sign.transition, state.past.epochs, state.validConfig.config.envoyRestartBudget),
        ...(state.agent.phase === 'stopped' ? [lastLine(state, exitOf(state.agent.outcome))] : []),
      ];
    case 'part-failed':
      return [partLine(sign)];
    case 'connection-broken':
      return [line('connection.broken', { reason: sign.reason, stack: sign.stack })];
    case 'bug': {
      const envoy = sign.leaves ? 'left' : 'drained';
      return [line('agent.bug', { reason: sign.reason, envoy, stack: sign.stack })];
    }
    case 'bug-over':
      return [lastLine(state, { code: exitCodes.software, why: `this is a bug: ${sign.reason}` })];
    case 'certificate-expiring':
    case 'certificate-expired':
      return [narrateExpiry(sign)];
    case 'envoy-reported': {
      const { version, path } = sign;
      return isSupported(version) || version === before.envoyVersion
        ? []
        : [line('envoy.unsupported', { version, path }, supportedReleases)];
    }
    case 'found-ready': {
      if (before.readyAt !== undefined) return [];
      const { envoyVersion: envoy, readyAt = 0, startedAt } = state;
      const fields = envoy === undefined ? {} : { envoy };
      return [line('agent.ready', fields, Math.round(readyAt - startedAt))];
    }
    case 'servers-log':
      return [sign.line];
    default:
      return [];
  }
}

function lastLine({ past }: RunView, { code, why: reason }: ProgramExit): LogLine {
  const see = seeExit(code);
  return line('agent.ended', {
    code,
    ...(reason !== undefined && { reason }),
    ...(see !== undefined && { see }),
    ...past.counters,
  });
}
