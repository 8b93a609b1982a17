import { line, type LogLine } from '../../shared/log/log-line.ts';
import type { RunSign } from './state/view.ts';

/** Returns the log lines about the status server, and about what it found. Pure. */
export function narrateStatus(sign: RunSign): readonly LogLine[] {
  const entry = statusLine(sign);
  return entry === undefined ? [] : [{ component: 'status', ...entry }];
}

function statusLine(sign: RunSign): LogLine | undefined {
  switch (sign.type) {
    case 'request-failed':
      return line('status.request_failed', { path: sign.path, reason: sign.reason });
    case 'socket-failed':
      return line('status.socket_failed', { path: sign.path, reason: sign.reason });
    case 'not-taken':
      return line('connection.not_taken', { server: sign.server, reason: sign.reason });
    case 'metrics-refused':
      return line('metrics.refused', { source: sign.source, reason: sign.reason });
    case 'metrics-left-out': {
      const { source, row, reason } = sign;
      return line('metrics.left_out', { source, row, reason });
    }
    case 'probe-failed':
      return line('probe.failed', { path: sign.path, reason: sign.reason });
    case 'probe-redirected':
      return line('probe.redirected', { path: sign.path, location: sign.location });
    case 'found-unready':
      return line('agent.not_ready', { reason: sign.reason, forMs: sign.forMs });
    default:
      return undefined;
  }
}
