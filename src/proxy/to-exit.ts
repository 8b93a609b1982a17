import type { Exit } from '../agent/model.ts';

/** What is known of a process that has ended, or could not be started: the fields of execa's result that count here. */
export interface Ended {
  readonly exitCode?: number | undefined;
  readonly signal?: NodeJS.Signals | undefined;
  readonly shortMessage?: string | undefined;
}

/** How a process ended, from what the operating system and its last words say; and how many the kernel had killed for want of memory before and after. */
export function toExit(
  { exitCode, signal, shortMessage }: Ended,
  tail: readonly string[],
  killsBefore?: number,
  killsAfter?: number,
): Exit {
  if (signal !== undefined) {
    const known = signal === 'SIGKILL' && killsBefore !== undefined && killsAfter !== undefined;
    return { kind: 'signaled', signal, tail, ...(known && { outOfMemory: killsAfter > killsBefore }) };
  }
  if (exitCode === undefined) return { kind: 'spawn-failed', reason: shortMessage ?? 'it could not be started' };
  if (exitCode === 0) return { kind: 'clean' };
  // The shell's and setpriv's word for what can not be executed. Envoy itself ends with 0 or 1.
  if (exitCode === 126 || exitCode === 127) return { kind: 'spawn-failed', reason: tail.at(-1) ?? String(exitCode) };
  const addressTaken = tail
    .map((line) => /cannot bind '(.+?)': Address already in use/.exec(line)?.[1])
    .find((address) => address !== undefined);
  return { kind: 'failed', code: exitCode, tail, ...(addressTaken !== undefined && { addressTaken }) };
}
