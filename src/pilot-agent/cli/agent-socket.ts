import { closeSync, constants, openSync } from 'node:fs';
import { join } from 'node:path';
import {
  asyncScheduler,
  catchError,
  defer,
  finalize,
  map,
  mergeMap,
  type Observable,
  of,
  timeout,
} from 'rxjs';
import { flags } from '../config/flags.ts';
import { type HttpAnswer, httpAnswer } from '../../shared/http/http-answer.ts';
import { exitCodes, Fatal } from '../../shared/program/exit.ts';
import { AgentGone, goneFrom } from './last-agent.ts';
import { byFolder, nobodyHere, theAgent } from './the-agent.ts';

/** In the folder of `--configPath`; only the user of the agent, and root, may connect. */
const socketName = 'status';
/** The time limit of an answer. In ms. */
const timeoutMs = 5_000;
/** The limit of an answer. In bytes. */
const largest = 64 << 20;

/** The folder of an agent, and the start of the message if no agent answers there. */
export interface AgentFolder {
  readonly folder: string;
  /** The start of the message: that no agent was found here; '' if one was found or named. */
  readonly alone: string;
}

/**
 * Returns the folder of the requested agent: that of the flag, else that of the agent that runs
 * here, else the default. Rejects with a {@link Fatal} if several run.
 */
export async function agentFolder(configPath: string | undefined): Promise<AgentFolder> {
  const agent = configPath === undefined ? await theAgent(byFolder) : undefined;
  const folder = configPath ?? agent?.configPath ?? flags.configPath.default;
  return {
    folder,
    alone: configPath === undefined && agent === undefined ? `${nobodyHere}, and ` : '',
  };
}

/**
 * Passes the path of the folder's socket to `ask$`, in a form that is short enough for a socket
 * whatever the folder. Cold; emits what `ask$` emits. Errors if the folder does not exist.
 */
export function bySocket<T>(
  folder: string,
  ask$: (socketPath: string) => Observable<T>,
): Observable<T> {
  return defer(() => {
    const descriptor = openSync(
      folder,
      constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NONBLOCK,
    );
    return ask$(`/proc/self/fd/${descriptor}/${socketName}`).pipe(
      finalize(() => closeSync(descriptor)),
    );
  });
}

/** Explains why a socket could not be used, without the path that it was opened by. Pure. */
export function whyNot(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return 'there is no socket';
  if (code === 'ECONNREFUSED') return 'nobody listens on it';
  if (code === 'EACCES') return 'it belongs to another user';
  return code ?? message;
}

/**
 * Asks the agent of a folder over its status socket, which serves its owner the same as the status
 * port. Emits a whole answer, and completes. Errors with a {@link Fatal} if no agent answers within
 * 5 s; it says how the last agent of the folder ended, if that is known.
 */
export function askAgent(
  { folder, alone }: AgentFolder,
  path: string,
  method: 'GET' | 'POST' = 'GET',
): Observable<HttpAnswer> {
  const silence = new Error(`no answer within ${timeoutMs / 1_000} s`);
  return bySocket(folder, (socketPath) =>
    httpAnswer(`http://localhost${path}`, { socketPath, method }, largest),
  ).pipe(
    timeout({ first: timeoutMs, with: () => of({ ok: false, error: silence } as const) }),
    catchError((error: unknown) => of({ ok: false, error } as const)),
    mergeMap((answer) =>
      answer.ok ? of(answer.value) : unanswered({ folder, alone }, answer.error),
    ),
  );
}

/** Errors with the reason why no agent answers. */
function unanswered({ folder, alone }: AgentFolder, error: unknown): Observable<never> {
  return goneFrom(folder, (error as NodeJS.ErrnoException).code, asyncScheduler.now()).pipe(
    map((gone) => {
      if (gone !== undefined) throw new AgentGone(gone, alone);
      const silent = `no agent answers at ${join(folder, socketName)}: ${whyNot(error)}; give --configPath the folder of the agent`;
      throw new Fatal(`${alone}${silent}`, exitCodes.unavailable);
    }),
  );
}
