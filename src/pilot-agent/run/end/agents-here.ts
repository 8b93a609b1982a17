// Why: docs/decisions/059-an-agent-is-found-by-two-sockets.md
import { randomBytes } from 'node:crypto';
import { closeSync, constants, lstatSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import {
  defaultIfEmpty,
  defer,
  finalize,
  firstValueFrom,
  forkJoin,
  map,
  mergeMap,
  Observable,
  of,
  timeout,
} from 'rxjs';
import * as z from 'zod/mini';
import { socketName } from '../start/folder-lock.ts';
import { parseJson } from '../../../shared/text/parse-json.ts';

/** A text without control characters, because it is printed to a terminal. */
const plain = z.string().check(z.regex(/^[^\p{Cc}]+$/u));
const hint = z.object({ configPath: plain });
const form = z.object({
  pid: z.number(),
  version: plain,
  configPath: plain,
  statusPort: z.number(),
  proxyAdminPort: z.number(),
  healthPort: z.number(),
});
const answer = z.object({ agent: form });

/** An agent as it describes itself to the commands. `pid` is that of its own namespace. */
export type AgentHere = Readonly<z.output<typeof form>>;

/**
 * The time limit of each answer, in ms: an agent is asked on its abstract socket, then on the
 * socket in its folder. A stopped agent does not answer, and an agent on a busy machine answers
 * late.
 */
const timeoutMs = 2_000;
/** The limit of an answer, in characters. */
const longest = 8_192;
/**
 * The name of the abstract socket of an agent, and its length in bytes. Abstract sockets belong to
 * the network namespace, so an agent is found even if /proc does not show its process. Its folder
 * must be readable here. Any process in the namespace can listen on a socket with such a name, and
 * send anything.
 */
const width = 107;
const name = /@(pilot-agent\/[0-9a-f]{16}-+)@*$/;

/**
 * Answers each client on this machine, or in this pod, with the folder of the agent, until the
 * returned function is called. The socket accepts no commands. If no socket can be opened, the
 * agent is not found, and nothing else is affected.
 */
export function announceFolder({ configPath }: Pick<AgentHere, 'configPath'>): () => void {
  // The name has the full length, because versions of Node pad a shorter one differently.
  const socket = `pilot-agent/${randomBytes(8).toString('hex')}`.padEnd(width, '-');
  const server = createServer((asking) =>
    asking.on('error', () => asking.destroy()).end(JSON.stringify({ configPath })),
  )
    .on('error', () => undefined)
    .listen(`\0${socket}`)
    .unref();
  return () => void server.close();
}

/**
 * Returns the agents that run here and answer, one for each folder, sorted by process ID. The
 * abstract socket only names a folder; the facts come from the socket in this folder. That socket
 * must belong to this user. If root has no agents, it gets those of other users.
 */
export function agentsHere(): Promise<readonly AgentHere[]> {
  const agents$ = defer(() => {
    const lines = readFileSync('/proc/net/unix', 'utf8').split('\n');
    const sockets = new Set(lines.flatMap((line) => name.exec(line)?.[1] ?? []));
    return all([...sockets].map((socket) => ask(`\0${socket}`)));
  }).pipe(
    map((texts) => new Set(texts.flatMap((text) => parsed(hint, text)?.configPath ?? []))),
    mergeMap((folders) => all([...folders].map(holdersOf))),
    map((holders) => {
      const agents = holders.flat();
      const ownAgents = agents.filter(({ uid }) => uid === process.geteuid?.());
      const counted = (ownAgents.length > 0 ? ownAgents : agents).map(({ agent }) => agent);
      return [...new Map(counted.map((agent) => [agent.configPath, agent])).values()].sort(
        (a, b) => a.pid - b.pid,
      );
    }),
  );
  return firstValueFrom(agents$, { defaultValue: [] });
}

function all<T>(questions: readonly Observable<T>[]): Observable<readonly T[]> {
  return forkJoin(questions).pipe(defaultIfEmpty([]));
}

interface Holder {
  readonly uid: number;
  readonly agent: AgentHere;
}

/** Emits the agents that claim to own a folder, and completes. Never errors. */
export function holdersOf(folder: string): Observable<readonly Holder[]> {
  return defer(() => {
    const descriptor = directory(folder);
    if (descriptor === undefined) return of([]);
    const path = `/proc/self/fd/${descriptor}`; // The path of a socket has at most 107 bytes.
    const sockets = readdirSync(path).filter((entry) => socketName.test(entry));
    const holders = sockets.map((entry) => {
      const uid = lstatSync(`${path}/${entry}`, { throwIfNoEntry: false })?.uid;
      const isHeard =
        uid !== undefined && (uid === process.geteuid?.() || process.geteuid?.() === 0);
      if (!isHeard) return of([]);
      return ask(`${path}/${entry}`, '{}').pipe(
        map((text) => parsed(answer, text)),
        map((reply) => (reply === undefined ? [] : [{ uid, agent: reply.agent }])),
      );
    });
    return all(holders).pipe(
      map((holders) => holders.flat()),
      finalize(() => closeSync(descriptor)),
    );
  });
}

function directory(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
}

/** Emits the answer, '' if none arrives in time, and completes. Never errors. */
function ask(socket: string, question = ''): Observable<string> {
  return new Observable<string>((subscriber) => {
    let text = '';
    const connection = connect(socket, () => connection.write(question)).setEncoding('utf8');
    connection.on('data', (piece: string) => {
      text += piece;
      if (text.length > longest) connection.destroy();
    });
    connection.on('error', () => undefined);
    connection.on('close', () => {
      subscriber.next(text);
      subscriber.complete();
    });
    return () => connection.destroy();
  }).pipe(timeout({ first: timeoutMs, with: () => of('') }));
}

function parsed<T>(shape: z.ZodMiniType<T>, text: string): T | undefined {
  try {
    return z.parse(shape, parseJson(text));
  } catch {
    return undefined;
  }
}
