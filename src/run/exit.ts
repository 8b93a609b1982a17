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
