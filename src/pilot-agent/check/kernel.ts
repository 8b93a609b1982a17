import { watch } from 'node:fs';
import { readText } from '../../proxy/control-group.ts';
import { envoysOf } from '../../proxy/proc.ts';
import type { Around } from './around.ts';
import { type Finding, findingsOf } from './finding.ts';

const { ok, warn } = findingsOf('kernel');

/** Each client has a connection to Envoy, and usually one further upstream: two open files. */
const leastFiles = 4_096;
/** Envoy's default for its queue of connections that wait to be accepted. */
const backlog = 128;

/** Checks the limits of the kernel: open files, file watches, connections that wait. */
export function checkKernel({ config: { configPath }, agent }: Around): readonly Finding[] {
  const envoys = agent === undefined ? [] : envoysOf(configPath);
  const files = Math.min(...[String(envoys.at(-1) ?? 'self')].map(filesOf));
  const waiting = Number(readText('/proc/sys/net/core/somaxconn') || backlog);
  const watching = watchFlaw();
  const findings = [
    ...(files < leastFiles
      ? [
          warn(
            'files few',
            `${files} files may be open at once (nofile), about two for each client`,
            'raise the limit: ulimit -Hn, or LimitNOFILE of systemd',
          ),
        ]
      : []),
    ...(watching === undefined
      ? []
      : [
          warn(
            'config.watch_failed',
            `files cannot be watched: ${watching}`,
            'raise fs.inotify.max_user_instances and max_user_watches',
          ),
        ]),
    ...(waiting < backlog
      ? [
          warn(
            'backlog short',
            `${waiting} connections may wait to be accepted, and Envoy asks for ${backlog}`,
            `set net.core.somaxconn to ${backlog} or more`,
          ),
        ]
      : []),
  ];
  return findings.length > 0
    ? findings
    : [ok(`${files} open files, files can be watched, ${waiting} connections may wait`)];
}

/** Node raises its soft limit to the hard limit, also for the programs that it starts. */
function filesOf(process: string): number {
  const limit = /^Max open files\s+(\S+)/m.exec(readText(`/proc/${process}/limits`))?.[1];
  return limit === undefined || limit === 'unlimited' ? Infinity : Number(limit);
}

/** Returns why no file can be watched; undefined if one can. */
function watchFlaw(): string | undefined {
  try {
    watch('/proc/self').close();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
