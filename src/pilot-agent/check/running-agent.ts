import { join } from 'node:path';
import { lastValueFrom, of, timeout } from 'rxjs';
import { httpAnswer } from '../../shared/http/http-answer.ts';
import { troubleshooting } from '../../shared/log/see-also.ts';
import type { Around } from './around.ts';
import { noteAnchor } from '../report/notes.ts';
import { type Finding, findingsOf } from './finding.ts';
import { parseJson } from '../../shared/text/parse-json.ts';

const check = 'agent';
const { ok, fail } = findingsOf(check);

/** In ms. */
const timeoutMs = 3_000;

/**
 * Asks the running agent whether it is ready, on its own socket, which works without a status port
 * too. Each reason why it is not ready has its own section in the documentation.
 */
export async function checkAgent({ agent }: Around): Promise<readonly Finding[]> {
  if (agent === undefined) return [];
  const socketPath = join(agent.configPath, 'status');
  const readiness$ = httpAnswer('http://localhost/healthz/ready', {
    socketPath,
    headers: { accept: 'application/json' },
  });
  const answer = await lastValueFrom(
    readiness$.pipe(timeout({ first: timeoutMs, with: () => of(undefined) })),
    { defaultValue: undefined },
  );
  if (answer?.ok !== true) {
    const why =
      answer === undefined
        ? `it does not answer within ${timeoutMs / 1_000} s`
        : (answer.error as Error).message;
    return [
      fail(
        'agent silent',
        `${socketPath}: ${why}`,
        'run this as the user of the agent, and see whether the agent is stopped',
      ),
    ];
  }
  const ready = parsed(answer.value.body);
  if (ready === undefined)
    return [
      fail(
        'agent silent',
        `${socketPath}: it answers ${answer.value.status}, and not whether it is ready`,
        'use the program of the same version as the agent',
      ),
    ];
  const { pending, notes } = ready;
  const noted = notes.map((note): Finding => {
    return {
      check,
      level: 'warn',
      what: note,
      fix: 'follow the page about this note',
      see: troubleshooting(noteAnchor(note)),
    };
  });
  const reasons = pending.map(({ name, reason }): Finding => {
    return {
      check,
      level: 'fail',
      what: `it is not ready: ${reason}`,
      fix: 'follow the page about this reason',
      see: troubleshooting(name),
    };
  });
  return [...(reasons.length === 0 ? [ok('it is ready')] : reasons), ...noted];
}

/** Returns the answer; undefined if it has another form, as that of another version may have. */
function parsed(body: string): ReadyAnswer | undefined {
  try {
    const answer = parseJson(body) as Partial<ReadyAnswer> | null;
    const { pending, notes } = answer ?? {};
    return Array.isArray(pending) && Array.isArray(notes) ? { pending, notes } : undefined;
  } catch {
    return undefined;
  }
}

/** The answer to a readiness probe. */
interface ReadyAnswer {
  readonly pending: readonly { readonly name: string; readonly reason: string }[];
  readonly notes: readonly string[];
}
