// Why: docs/decisions/022-a-socket-holds-a-folder.md
import { randomBytes } from 'node:crypto';
import { closeSync, constants, openSync, readdirSync, renameSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { asyncScheduler, filter, firstValueFrom, forkJoin, Observable, of, timeout } from 'rxjs';
import { privately } from '../../../shared/files/privately.ts';
import { remove } from '../../../shared/files/whole-file.ts';
import { pollUntil } from '../../../operators/poll-until.ts';
import { parseJson } from '../../../shared/text/parse-json.ts';

/** An agent, as it describes itself. */
export interface Holder {
  /** The process id in its own namespace. */
  readonly pid: number;
  /** Since when it owns or wants the folder (ISO 8601). */
  readonly since: string;
  readonly version: string;
}

export type FolderLock =
  | {
      readonly ok: true;
      /**
       * The disk is full: no other agent owns the folder, but later agents will not notice this
       * one.
       */
      readonly isSilent: boolean;
      /** Releases the folder. Synchronous; may be called again. */
      release(): void;
    }
  /** Without `holder`, the owner of the folder does not identify itself. */
  | { readonly ok: false; readonly holder?: Holder };

type OwnerAnswer = { readonly kind: 'held'; readonly holder?: Holder };
/** The answer of a socket of the folder to an agent that wants it. `gone`: nobody listens there. */
type Answer = OwnerAnswer | { readonly kind: 'gone' | 'gives-way' };

/** The error codes of the system if there is no room for a socket. */
const full: readonly string[] = ['ENOSPC', 'EDQUOT'];
/**
 * The time limit of an answer, and the delay before the question is repeated after a connection was
 * closed without an answer. In ms.
 */
const timeoutMs = 1_000;
const again = 10;
/** The socket of an agent, and its name before the agent listens on it. */
export const socketName = /^agent-[0-9a-f]{16}\.lock$/;
const earlyName = /^agent-[0-9a-f]{16}\.lock\.new$/;

/**
 * Locks an existing folder for this process, or resolves to its owner. An agent listens on its own
 * socket in the folder, and then asks all others. No name is ever used twice, so a socket on which
 * nobody listens can be removed at any time.
 *
 * If two agents want the folder at the same moment, the one with the lower name gets it. An agent
 * that accepts a connection and does not answer within a second owns the folder too: it is stopped,
 * or busy. Each answer contains `tells`. Rejects with the system's error if there can be no socket.
 */
export async function lockFolder(
  folder: string,
  version: string,
  tells: object = {},
): Promise<FolderLock> {
  const candidate = await enter(folder, version, tells);
  const others = candidate.names(socketName).filter((name) => name !== candidate.name);
  const answers = await firstValueFrom(
    forkJoin(others.map((name) => ask(candidate.path(name), candidate.question))),
    { defaultValue: [] },
  );
  const owner = candidate.decide(answers);
  if (owner !== undefined) {
    candidate.leave();
    return { ok: false, ...(owner.holder !== undefined && { holder: owner.holder }) };
  }
  const dead = others.filter((_, index) => answers[index]?.kind === 'gone');
  // A live agent whose early name is removed notices that, and starts again with a new name.
  for (const name of [...dead, ...candidate.names(earlyName)]) remove(candidate.path(name));
  return { ok: true, isSilent: candidate.isSilent, release: () => candidate.leave() };
}

/** An agent that listens in a folder. */
interface Candidate {
  readonly name: string;
  /** It has no socket. */
  readonly isSilent: boolean;
  /** The question to the other agents. */
  readonly question: string;
  /** Returns the matching entries of the folder. */
  names(pattern: RegExp): readonly string[];
  path(entry: string): string;
  /** Returns the owner of the folder. If it returns nothing, this agent owns the folder. */
  decide(answers: readonly Answer[]): OwnerAnswer | undefined;
  leave(): void;
}

async function enter(folder: string, version: string, tells: object): Promise<Candidate> {
  const descriptor = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  // The path of a socket has at most 107 bytes (unix(7)); that of the folder may be longer.
  const path = (entry: string) => `/proc/self/fd/${descriptor}/${entry}`;
  const id = randomBytes(8).toString('hex');
  const name = `agent-${id}.lock`;
  const self: Holder = {
    pid: process.pid,
    since: new Date(asyncScheduler.now()).toISOString(),
    version,
  };
  let holds = false;
  let preceding: OwnerAnswer | undefined;

  const server = createServer((socket) => {
    socket.unref().on('error', () => socket.destroy());
    socket.once('data', (question) =>
      socket.end(JSON.stringify({ ...tells, ...answerTo(String(question)) })),
    );
  });
  function answerTo(question: string): Answer {
    const { id: asking, holder } = members(question);
    if (holds || typeof asking !== 'string' || asking > id) return { kind: 'held', holder: self };
    preceding ??= heldBy(holder);
    return { kind: 'gives-way' };
  }
  function leave(): void {
    if (!server.listening) return;
    remove(path(name));
    server.close();
    closeSync(descriptor);
  }

  const isSilent = (await listened(server, path(`${name}.new`), descriptor)) === 'full';
  try {
    if (!isSilent) renameSync(path(`${name}.new`), path(name)); // an agent that is asked between bind and listen seems dead
  } catch (error) {
    leave();
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return enter(folder, version, tells);
  }
  return {
    ...{
      name,
      isSilent,
      question: JSON.stringify({ ...(!isSilent && { id }), holder: self }),
      path,
      leave,
    },
    names: (pattern) => readdirSync(path('')).filter((entry) => pattern.test(entry)),
    decide(answers) {
      const owner = answers.find((answer) => answer.kind === 'held') ?? preceding;
      holds = owner === undefined;
      return owner;
    },
  };
}

/** Listens on a socket, unless the disk is full. Closes the folder if it rejects. */
async function listened(
  server: Server,
  path: string,
  descriptor: number,
): Promise<'listening' | 'full'> {
  try {
    await listen(server, path);
    return 'listening';
  } catch (error) {
    if (full.includes((error as NodeJS.ErrnoException).code ?? '')) return 'full';
    closeSync(descriptor);
    throw error;
  }
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    // A later error, of a connection that cannot be accepted, needs no handling.
    server.on('error', reject).unref();
    privately(() => server.listen(path, resolve));
  });
}

/** Emits one answer within a second, and completes. Never errors. */
function ask(path: string, question: string): Observable<Answer> {
  return askOnce(path, question).pipe(
    pollUntil((answer) => answer !== undefined, { every: again }),
    filter((answer) => answer !== undefined),
    timeout({ first: timeoutMs, with: () => of<Answer>({ kind: 'held' }) }),
  );
}

/**
 * Emits the answer, and completes; undefined if the other side closes the connection without one,
 * as when its process ends.
 */
function askOnce(path: string, question: string): Observable<Answer | undefined> {
  return new Observable((subscriber) => {
    let text = '';
    const socket = connect(path, () => socket.write(question)).setEncoding('utf8');
    const answered = (answer: Answer | undefined) => {
      subscriber.next(answer);
      subscriber.complete();
    };
    socket.on('data', (piece: string) => (text += piece));
    socket.on('error', ({ code = '' }: NodeJS.ErrnoException) => {
      const hungUp = code === 'ECONNRESET' || code === 'EPIPE';
      answered(
        hungUp
          ? undefined
          : { kind: code === 'ECONNREFUSED' || code === 'ENOENT' ? 'gone' : 'held' },
      );
    });
    socket.on('close', () => answered(answerIn(text)));
    return () => socket.destroy();
  });
}

function answerIn(text: string): Answer | undefined {
  const { kind, holder } = members(text);
  return kind === 'held' ? heldBy(holder) : kind === 'gives-way' ? { kind } : undefined;
}

function heldBy(value: unknown): OwnerAnswer {
  const { pid, since, version } = (value ?? {}) as Readonly<Record<string, unknown>>;
  const isHolder =
    typeof pid === 'number' && typeof since === 'string' && typeof version === 'string';
  return { kind: 'held', ...(isHolder && { holder: { pid, since, version } }) };
}

function members(text: string): Readonly<Record<string, unknown>> {
  try {
    return (parseJson(text) ?? {}) as Readonly<Record<string, unknown>>;
  } catch {
    return {};
  }
}
