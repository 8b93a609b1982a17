import { dirname } from 'node:path';
import { findExecutable } from '../../envoy/find-envoy.ts';
import { line, type LogLine } from '../../../shared/log/log-line.ts';
import type { Tools } from '../../../proxy/spawn-envoy.ts';

/** Beside the bundle, or beside the single executable. */
const folders = [import.meta.dirname, dirname(process.execPath)];

/** Returns the path of the agent's guard program, if it was installed. */
export function findGuard(): string | undefined {
  return findExecutable('pilot-agent-guard', folders.join(':'));
}

/** Finds the programs for a start: the guard, and the tools in `path`. */
export function toolsIn(path: string | undefined): Tools {
  const [mkfifo, setpriv, sh] = ['mkfifo', 'setpriv', 'sh'].map((name) =>
    findExecutable(name, path),
  );
  return { guard: findGuard(), mkfifo, setpriv, sh };
}

/**
 * Finds the small programs for a start. Logs a warning for each missing one, and one if the agent
 * is process 1.
 */
export function findTools(
  path: string | undefined,
  pid: number,
  log: (line: LogLine) => void,
): Tools {
  const tools = toolsIn(path);
  for (const name of ['setpriv', 'sh', 'mkfifo'] as const)
    if (tools.guard === undefined && tools[name] === undefined) log(line('tool.missing', {}, name));
  if (pid === 1) log(line('agent.process_one'));
  return tools;
}
