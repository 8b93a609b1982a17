import { troubleshooting } from '../log/see-also.ts';

/**
 * The agent's own exit codes; Envoy's own code, or 128 + n for a signal, stands for itself.
 * Numbers: sysexits.h.
 */
export const exitCodes = {
  /** Asked to stop, or the last Envoy ended cleanly. */
  ok: 0,
  /** Envoy has refused what `request` asked of it. */
  refused: 1,
  /** A bad flag or role. */
  usage: 64,
  /** A port, or the Envoy binary, is not to be had. */
  unavailable: 69,
  /** A bug. */
  software: 70,
  /** A bad configuration or bootstrap. */
  config: 78,
} as const;

/**
 * Where it is said what to do about an end with `code`; undefined for 0. Envoy's codes and those of
 * a command share one place. Pure.
 */
export function seeExit(code: number): string | undefined {
  if (code === exitCodes.ok) return undefined;
  return troubleshooting(Object.values<number>(exitCodes).includes(code) ? `exit ${code}` : 'exit other');
}

/**
 * What ends the program: one line for the user, '' where there is nothing to say, and the exit
 * code.
 */
export class Fatal extends Error {
  readonly code: number;

  constructor(message: string, code: number) {
    super(message);
    this.code = code;
  }
}

/**
 * Does what the configuration asks for; throws a {@link Fatal} (78) that begins with `what` where
 * that fails.
 */
export function attempt<T>(action: () => T, what: string): T {
  try {
    return action();
  } catch (error) {
    throw new Fatal(`${what}: ${(error as Error).message}`, exitCodes.config);
  }
}

/**
 * Does all of these, one after the other, and resolves to what they give. Where some throw a
 * {@link Fatal}, all are done all the same; then it rejects with one that tells all: 78 if one of
 * them has it, then 64, then 69, for a restart mends neither a file nor a command line.
 */
export async function allOf<T extends readonly unknown[]>(actions: {
  readonly [Index in keyof T]: () => T[Index] | Promise<T[Index]>;
}): Promise<T> {
  const results: unknown[] = [];
  const failures: Fatal[] = [];
  for (const action of actions) {
    try {
      results.push(await action());
    } catch (error) {
      if (!(error instanceof Fatal)) throw error;
      failures.push(error);
    }
  }
  if (failures.length === 0) return results as unknown as T;
  const { config, usage, unavailable } = exitCodes;
  const code = [config, usage, unavailable].find((one) => failures.some((failure) => failure.code === one));
  throw new Fatal(failures.map(({ message }) => message).join('; '), code ?? config);
}
