// Why: docs/decisions/056-64-is-for-flags-78-for-configuration.md
import { troubleshooting } from '../log/see-also.ts';

/**
 * The agent's own exit codes; Envoy's own code, or 128 + n for a signal, stands for itself.
 * Numbers: sysexits.h.
 */
export const exitCodes = {
  /** Asked to stop, or the last Envoy ended cleanly. */
  ok: 0,
  /**
   * Envoy has refused what `request` asked of it, `status` says that the agent is not ready, or
   * `check` has found a failure.
   */
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
  return troubleshooting(
    Object.values<number>(exitCodes).includes(code) ? `exit ${code}` : 'exit other',
  );
}

/** What a user does about an end, by its code. Others are Envoy's own. */
const fixes: Readonly<Record<number, string>> = {
  [exitCodes.refused]: 'change what is asked for',
  [exitCodes.usage]: 'correct the flag that is named',
  [exitCodes.unavailable]: 'free what is named, or give another one, and start the agent again',
  [exitCodes.software]: 'report this bug with the log, which has the stack',
  [exitCodes.config]: 'correct the configuration that is named',
};

/** Why an agent has ended otherwise than it was asked to. */
interface Failure extends Error {
  /** The exit code of the program: 64, 69, 70, 78, or that of Envoy. */
  readonly code: number;
  /** What is wrong, in one line. */
  readonly reason: string;
  /** What to do about it, in one line, and the page that says more. */
  readonly fix: string;
}

/**
 * What ends the agent otherwise than it was asked to: one line for the user, '' where there is
 * nothing to say, and the exit code. To who uses the library it is an `AgentFailure`.
 */
export class Fatal extends Error implements Failure {
  override readonly name = 'AgentFailure';
  readonly code: number;
  /** Lines of the text that is to blame, below the one line. */
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
  const code = [config, usage, unavailable].find((one) =>
    failures.some((failure) => failure.code === one),
  );
  throw new Fatal(failures.map(({ message }) => message).join('; '), code ?? config);
}
