import { lstatSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { map, type Observable } from 'rxjs';
import { troubleshooting } from '../../shared/log/see-also.ts';
import { type AgentEnd, endIn } from '../run/end/agent-end.ts';
import { holdersOf } from '../run/end/agents-here.ts';
import { exitCodes, Fatal } from '../../shared/program/exit.ts';
import { ago, between, timeSpan } from '../terminal/time-span.ts';

/** An agent that has ended: one line, a second line with advice, and both for a program. */
export interface Gone {
  readonly message: string;
  readonly advice?: string;
  readonly end: GoneReport;
}

/** How an agent ended, as it recorded; if it recorded nothing, the traces that it left. */
export type GoneReport = { readonly folder: string } & (AgentEnd | Traces);

/** No agent answers, because the agent of the folder has ended. */
export class AgentGone extends Fatal {
  readonly end: GoneReport;

  constructor({ message, advice, end }: Gone, before: string) {
    super(`${before}${message}`, exitCodes.unavailable, { excerpt: advice });
    this.end = end;
  }
}

/** The traces of an agent that was killed or has crashed, and so has not recorded its end. */
export interface Traces {
  /** When its socket was created, which is at its start. ISO 8601. */
  readonly startedAt: string;
  /**
   * When an entry of its folder was last created or removed. If an Envoy ran, that is the end: the
   * processes that outlive the agent remove its sockets.
   */
  readonly changedAt: string;
}

/**
 * Explains what happened to the agent of a folder whose socket gave the error `code` instead of an
 * answer. Emits undefined if an agent owns the folder, or nothing is known, and completes. Never
 * errors.
 */
export function goneFrom(
  folder: string,
  code: string | undefined,
  now: number,
): Observable<Gone | undefined> {
  return holdersOf(folder).pipe(
    map((holders) => {
      if (holders.length > 0 || (code !== 'ENOENT' && code !== 'ECONNREFUSED')) return undefined;
      const end = endIn(folder);
      if (end !== undefined) return ended(folder, end, new Date(now).toISOString());
      const traces = code === 'ECONNREFUSED' ? tracesIn(folder) : undefined;
      return traces === undefined
        ? undefined
        : endedSilently(folder, traces, new Date(now).toISOString());
    }),
  );
}

/** Describes an agent that has recorded its end. `now`: ISO 8601. Pure. */
export function ended(folder: string, end: AgentEnd, now: string): Gone {
  const { at: endedAt, startedAt, code, reason, fix } = end;
  const lived = timeSpan(Math.max(0, between(startedAt, endedAt) ?? 0));
  return {
    message: `the agent of ${folder} has ended with exit code ${code}, ${ago(endedAt, now)} (${endedAt}, after ${lived}): ${reason}`,
    ...(fix !== undefined && { advice: `what to do: ${fix}` }),
    end: { folder, ...end },
  };
}

/** Describes an agent that has not recorded its end. `now`: ISO 8601. Pure. */
export function endedSilently(folder: string, { startedAt, changedAt }: Traces, now: string): Gone {
  return {
    message:
      `the agent of ${folder} has ended without a word: it was killed, or has crashed. ` +
      `It was started ${ago(startedAt, now)} (${startedAt}), and its folder changed for the last time ${ago(changedAt, now)} (${changedAt})`,
    advice: `what to do: look for the end of its log, and for who killed it (journalctl -k, kubectl describe pod); see ${troubleshooting('exit other')}`,
    end: { folder, startedAt, changedAt },
  };
}

function tracesIn(folder: string): Traces | undefined {
  const [socket, place] = [join(folder, 'status'), folder].map((path) =>
    lstatSync(path, { throwIfNoEntry: false }),
  );
  if (socket === undefined || place === undefined) return undefined;
  const changed = ({ mtime }: Stats) => mtime.toISOString();
  return { startedAt: changed(socket), changedAt: changed(place) };
}
