import { findExecutable } from '../envoy/find-executable.ts';
import type { Tools } from '../proxy/spawn-envoy.ts';

/** The small programs that take part in a start, and a warning for each that is missing; and one where the agent is process 1. */
export function findTools(path: string | undefined, pid: number, warn: (msg: string) => void): Tools {
  const [mkfifo, setpriv, sh] = ['mkfifo', 'setpriv', 'sh'].map((name) => findExecutable(name, path));
  if (setpriv === undefined) warn('setpriv is not in PATH: an Envoy in its first moments may survive a SIGKILL of the agent');
  if (sh === undefined) warn('sh is not in PATH: an Envoy that is stopped or stuck survives a SIGKILL of the agent');
  if (mkfifo === undefined) warn("mkfifo is not in PATH: Envoy's log lines are passed on as they are");
  if (pid === 1) warn("the agent is process 1, and Node cannot reap other programs' zombies: put a small init before it, such as tini");
  return { mkfifo, setpriv, sh };
}
