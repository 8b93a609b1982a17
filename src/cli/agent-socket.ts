import { closeSync, constants, openSync } from 'node:fs';
import { join } from 'node:path';
import { catchError, defer, finalize, map, type Observable, of, timeout } from 'rxjs';
import { flags } from '../config/flags.ts';
import { type HttpAnswer, httpAnswer } from '../http/http-answer.ts';
import { exitCodes, Fatal } from '../run/exit.ts';
import { byFolder, nobodyHere, theAgent } from './the-agent.ts';

/** In the folder of `--configPath`; only the user of the agent, and root, may connect. */
const socketName = 'status';
/** How long an agent has to answer. In ms. */
const timeoutMs = 5_000;
/** In bytes. */
const largest = 64 << 20;

/** The folder of an agent, and what is said of it where nobody answers. */
export interface AgentFolder {
  readonly folder: string;
  /** Why nobody answers there, before what was wrong. */
  readonly alone: string;
}

/**
 * The folder of the agent that is meant: that of the flag, else that of the one that runs here,
 * else the usual one. Rejects with a {@link Fatal} where several run.
 */
export async function agentFolder(configPath: string | undefined): Promise<AgentFolder> {
  const agent = configPath === undefined ? await theAgent(byFolder) : undefined;
  const folder = configPath ?? agent?.configPath ?? flags.configPath.default;
  return { folder, alone: configPath === undefined && agent === undefined ? `${nobodyHere}, and ` : '' };
}

/**
 * Hands the path of the socket in the folder to what asks there, as one that is short enough for a
 * socket wherever the folder is. Cold; emits what that emits. Errors where there is no such folder.
 */
export function bySocket<T>(folder: string, ask$: (socketPath: string) => Observable<T>): Observable<T> {
  return defer(() => {
    const descriptor = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NONBLOCK);
    return ask$(`/proc/self/fd/${descriptor}/${socketName}`).pipe(finalize(() => closeSync(descriptor)));
  });
}

/** Why a socket was of no use, without the path that it was opened by. Pure. */
export function whyNot(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return 'there is no socket';
  if (code === 'ECONNREFUSED') return 'nobody listens any more';
  if (code === 'EACCES') return 'it belongs to another user';
  return code ?? message;
}

/**
 * Asks the agent of a folder, over the socket on which it answers its owner what the status port
 * answers; emits a whole answer, and completes. Errors with a {@link Fatal} where no agent answers
 * within 5 s.
 */
export function askAgent({ folder, alone }: AgentFolder, path: string, method: 'GET' | 'POST' = 'GET'): Observable<HttpAnswer> {
  const silence = new Error(`no answer within ${timeoutMs / 1_000} s`);
  return bySocket(folder, (socketPath) => httpAnswer(`http://localhost${path}`, { socketPath, method }, largest)).pipe(
    timeout({ first: timeoutMs, with: () => of({ ok: false, error: silence } as const) }),
    catchError((error: unknown) => of({ ok: false, error } as const)),
    map((answer) => {
      if (answer.ok) return answer.value;
      const socket = join(folder, socketName);
      throw new Fatal(
        `${alone}no agent answers at ${socket}: ${whyNot(answer.error)}; --configPath says where it is`,
        exitCodes.unavailable,
      );
    }),
  );
}
