import { execa } from 'execa';

export interface RunOptions {
  /**
   * Kills the running program and removes the written files; the promise then rejects as for any
   * failure.
   */
  readonly signal?: AbortSignal | undefined;
  readonly env?: NodeJS.ProcessEnv | undefined;
}

/** Rejects with an `Error` if the signal is aborted. */
export function goOn(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw new Error('it was interrupted');
}

/** Runs a program to its end in a folder. Never rejects: the result says if it failed. */
export function runProgram(
  file: string,
  args: readonly string[],
  folder: string,
  { signal, env = process.env }: RunOptions,
) {
  return execa(file, args, {
    cwd: folder,
    env,
    extendEnv: false,
    stdin: 'ignore',
    reject: false,
    forceKillAfterDelay: 2000,
    ...(signal && { cancelSignal: signal }),
  });
}
