import { dirname } from 'node:path';
import { findExecutable } from '../../envoy/find-envoy.ts';
import type { LogLine } from '../../../shared/log/log-line.ts';
import type { Tools } from '../../../proxy/spawn-envoy.ts';

/** Beside the bundle, or beside the one executable. */
const folders = [import.meta.dirname, dirname(process.execPath)];

/** The agent's own small program, where it was installed with one. */
export function findGuard(): string | undefined {
  return findExecutable('pilot-agent-guard', folders.join(':'));
}

/** What takes part in a start: the guard, or else what is in `path`. */
export function toolsIn(path: string | undefined): Tools {
  const [mkfifo, setpriv, sh] = ['mkfifo', 'setpriv', 'sh'].map((name) =>
    findExecutable(name, path),
  );
  return { guard: findGuard(), mkfifo, setpriv, sh };
}

/**
 * The small programs that take part in a start, and a warning for each that is missing; and one
 * where the agent is process 1.
 */
export function findTools(
  path: string | undefined,
  pid: number,
  log: (line: LogLine) => void,
): Tools {
  const missing = (msg: string) => log({ level: 'warn', event: 'tool.missing', msg });
  const tools = toolsIn(path);
  const lacks = (name: 'mkfifo' | 'setpriv' | 'sh') =>
    tools.guard === undefined && tools[name] === undefined;
  if (lacks('setpriv'))
    missing(
      'setpriv is not in PATH: an Envoy in its first moments may survive a SIGKILL of the agent',
    );
  if (lacks('sh'))
    missing('sh is not in PATH: an Envoy that is stopped or stuck survives a SIGKILL of the agent');
  if (lacks('mkfifo'))
    missing("mkfifo is not in PATH: Envoy's log lines are passed on as they are");
  if (pid === 1) {
    const msg =
      "the agent is process 1, and Node cannot reap other programs' zombies: put a small init before it, such as tini";
    log({ level: 'warn', event: 'agent.process_one', msg });
  }
  return tools;
}
