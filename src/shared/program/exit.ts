// Why: docs/decisions/056-64-is-for-flags-78-for-configuration.md
import { troubleshooting } from '../log/see-also.ts';

/**
 * The agent's own exit codes; Envoy's own code, or 128 + n for a signal, is passed on. Numbers:
 * sysexits.h.
 */
export const exitCodes = {
  /** Asked to stop, or the last Envoy ended cleanly. */
  ok: 0,
  /**
   * Envoy has refused the request that `pilot-agent request` sent, `status` reports that the agent
   * is not ready, or `check` has found a failure.
   */
  refused: 1,
  /** A bad flag or role. */
  usage: 64,
  /** A port, or the Envoy binary, is not available. */
  unavailable: 69,
  /** A bug. */
  software: 70,
  /** A bad configuration or bootstrap. */
  config: 78,
} as const;

/**
 * Returns the place that says what to do about an end with `code`; undefined for 0. Envoy's codes
 * and those of a command share one place. Pure.
 */
export function seeExit(code: number): string | undefined {
  if (code === exitCodes.ok) return undefined;
  return troubleshooting(
    Object.values<number>(exitCodes).includes(code) ? `exit ${code}` : 'exit other',
  );
}

/** The remedy for an end, by its code. Other codes are Envoy's. */
const fixes: Readonly<Record<number, string>> = {
  [exitCodes.refused]: 'change the request',
  [exitCodes.usage]: 'correct the flag that is named',
  [exitCodes.unavailable]:
    'free the port or file that is named, or give another one, and start the agent again',
  [exitCodes.software]: 'report this bug with the log, which has the stack',
  [exitCodes.config]: 'correct the configuration that is named',
};

/** Why an agent ended without a request to do so. */
interface Failure extends Error {
  /** The exit code of the program: 64, 69, 70, 78, or that of Envoy. */
  readonly code: number;
  /** The problem, in one line. */
  readonly reason: string;
  /** The remedy, in one line, and the page that says more. */
  readonly fix: string;
}

/**
 * An end of the agent without a request: one line for the user, '' if there is nothing to say, and
 * the exit code. In the library it is an `AgentFailure`.
 */
export class Fatal extends Error implements Failure {
  override readonly name = 'AgentFailure';
  readonly code: number;
  /** The faulty lines of the configuration, which are shown below the message. */
  readonly excerpt: string | undefined;

  constructor(
    message: string,
    code: number,
    options?: ErrorOptions & { readonly excerpt?: string | undefined },
  ) {
    super(message, options);
    this.code = code;
    this.excerpt = options?.excerpt;
  }

  get reason(): string {
    return this.message;
  }

  get fix(): string {
    return `${fixes[this.code] ?? "look for the last lines of Envoy's log"}; see ${seeExit(this.code) ?? ''}`;
  }
}

/**
 * Runs an action that the configuration requires; if it fails, throws a {@link Fatal} (78) that
 * begins with `what`.
 */
export function attempt<T>(action: () => T, what: string): T {
  try {
    return action();
  } catch (error) {
    throw new Fatal(`${what}: ${(error as Error).message}`, exitCodes.config);
  }
}

/**
 * Runs all actions one after the other, and resolves to their results. If some throw a {@link
 * Fatal}, the others still run; then it rejects with one that reports all of them. Its code is 78
 * if one of them has it, then 64, then 69, because a restart mends neither a file nor a command
 * line.
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
  const code = [config, usage, unavailable].find((exitCode) =>
    failures.some((failure) => failure.code === exitCode),
  );
  throw new Fatal(failures.map(({ message }) => message).join('; '), code ?? config);
}
