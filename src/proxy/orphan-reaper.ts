// Why: docs/decisions/007-an-orphan-reaper-ends-envoys.md
import { dirname } from 'node:path';
import { execa } from 'execa';
import { sharedMemoryOf } from './base-ids.ts';
import type { RestartAddress } from './restart-addresses.ts';
import type { Tools } from './spawn-envoy.ts';

/**
 * Waits for the end of its input, which comes when the agent ends, however it ends. Then kills
 * every process with the base id among its arguments: Envoys, and processes that are about to
 * become one. The id is not among the reaper's own arguments. Then removes what the Envoys shared,
 * which would otherwise stay. The guard does the same (native/pilot-agent-guard.c).
 */
const script = `while read -r _; do :; done
for found in $(grep -lzx -- "$PILOT_AGENT_BASE_ID" /proc/[0-9]*/cmdline 2>/dev/null); do
  found=\${found#/proc/}
  kill -KILL "\${found%/cmdline}"
done
rm -f "$PILOT_AGENT_SHARED_MEMORY" "$PILOT_AGENT_SOCKETS"/s_* "/dev/shm/pilot-agent-$PILOT_AGENT_BASE_ID-"*
rmdir "$PILOT_AGENT_SOCKETS"`;

/**
 * Starts a small process that outlives the agent just long enough to kill its Envoys. Returns a
 * function that ends that process without killing them; undefined if there is no program to start.
 *
 * The parent-death signal alone is not enough: during its start Envoy replaces it by SIGTERM, which
 * an Envoy that is stopped, or waits for a parent that is gone (10 s), does not handle (seen with
 * Envoy 1.36.2).
 */
export function orphanReaper(
  { guard, sh }: Tools,
  { baseId, socketPath }: RestartAddress,
): (() => void) | undefined {
  const program = guard ?? sh;
  if (program === undefined) return undefined;
  const child = execa(program, guard === undefined ? ['-c', script] : ['reap'], {
    stdio: ['pipe', 'ignore', 'ignore'],
    env: {
      PILOT_AGENT_BASE_ID: String(baseId),
      PILOT_AGENT_SHARED_MEMORY: sharedMemoryOf(baseId),
      PILOT_AGENT_SOCKETS: dirname(socketPath),
    },
    detached: true,
    cleanup: false,
    buffer: false,
    reject: false,
  });
  child.stdin.on('error', () => undefined);
  return () => child.kill('SIGKILL');
}
