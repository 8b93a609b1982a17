import { findExecutable } from '../envoy/find-envoy.ts';
import { findGuard } from '../run/start/find-tools.ts';
import type { Around } from './around.ts';
import { type Finding, findingsOf } from './finding.ts';

const { ok, warn, fail } = findingsOf('tools');

/** The consequence if a small program is missing, and the packages that contain it. */
const tools: Readonly<Record<string, readonly [need: string, from: string]>> = {
  setpriv: ['Envoy would not end with an agent that is killed in its first moments', 'util-linux'],
  mkfifo: ["Envoy's log lines would be passed on as they are", 'coreutils'],
  sh: ['an Envoy that is stopped or stuck would survive a killed agent', 'dash or bash'],
  grep: ['an Envoy that is stopped or stuck would survive a killed agent', 'grep'],
  rm: ['files that a killed agent shared with its Envoys would stay', 'coreutils'],
  rmdir: ['files that a killed agent shared with its Envoys would stay', 'coreutils'],
};

/** Checks for the small programs that a start and the orphan reaper use. */
export function checkTools({
  config: { searchPath, keepEnvoy },
  agent,
}: Around): readonly Finding[] {
  const isMissing = (name: string) => findExecutable(name, searchPath) === undefined;
  const where = 'and have it in PATH';
  const guard = findGuard();
  const missing =
    guard === undefined ? Object.entries(tools).filter(([name]) => isMissing(name)) : [];
  const findings = [
    ...missing.map(([name, [need, from]]) =>
      warn('tool.missing', `${name} is not in PATH: ${need}`, `install ${from}, ${where}`),
    ),
    ...(keepEnvoy && isMissing('setsid')
      ? [
          fail(
            'tool.missing',
            '--keepEnvoy needs setsid, which is not in PATH',
            `install util-linux, ${where}`,
          ),
        ]
      : []),
    ...(agent?.pid === 1
      ? [
          warn(
            'agent.process_one',
            'the agent is process 1, and cannot reap the zombies of others',
            'put a small init before it, such as tini',
          ),
        ]
      : []),
  ];
  return findings.length > 0 ? findings : [ok(guard ?? Object.keys(tools).join(', '))];
}
