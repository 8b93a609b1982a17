// Why: docs/decisions/022-a-socket-holds-a-folder.md
import { randomBytes } from 'node:crypto';
import { closeSync, constants, openSync, readdirSync, renameSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { asyncScheduler, filter, firstValueFrom, forkJoin, Observable, of, timeout } from 'rxjs';
import { privately } from '../../../shared/files/privately.ts';
import { remove } from '../../../shared/files/whole-file.ts';
import { pollUntil } from '../../../operators/poll-until.ts';
import { parseJson } from '../../../shared/text/parse-json.ts';

/** An agent, as it says of itself. */
export interface Holder {
  /** In its own namespace. */
  readonly pid: number;
  /** Since when it has the folder, or wants it (ISO 8601). */
  readonly since: string;
  readonly version: string;
}

export type FolderLock =
  | {
      readonly ok: true;
      /**
       * The disk is full: nobody has the folder, but who comes later will not hear that this
       * process does.
       */
      readonly isSilent: boolean;
      /** Lets go of the folder. Synchronous; may be called again. */
      release(): void;
    }
  /** Without `holder` nobody says who has the folder. */
  | { readonly ok: false; readonly holder?: Holder };

type Held = { readonly kind: 'held'; readonly holder?: Holder };
/** What a socket of the folder says to an agent that wants it. `gone`: nobody listens there. */
type Answer = Held | { readonly kind: 'gone' | 'gives-way' };

/** What the system says where there is no room for a socket. */
const full: readonly string[] = ['ENOSPC', 'EDQUOT'];
/**
 * How long an answer may take; and how long after a hang-up without one the question is put again.
 * In ms.
 */
const timeoutMs = 1_000;
const again = 10;
/** The socket of an agent, and what it is called before it is listened on. */
export const socketName = /^agent-[0-9a-f]{16}\.lock$/;
const earlyName = /^agent-[0-9a-f]{16}\.lock\.new$/;

/**
 * Holds a folder that exists for this process, or resolves to who holds it. An agent listens on a
 * socket of its own in the folder, and then asks all others. A name is never used again: so a
 * socket on which nobody listens can be removed at any time.
 *
 * Of two that want the folder at the same moment the one with the lower name gets it. Who takes a
 * connection and does not answer within a second has the folder too: it is stopped, or busy. Each
 * answer has `tells` in it.
 * Rejects where there can be no socket, with what the system says.
 */
export async function lockFolder(
  folder: string,
  version: string,
  tells: object = {},
): Promise<FolderLock> {
  const own = await enter(folder, version, tells);
  const others = own.names(socketName).filter((name) => name !== own.name);
  const answers = await firstValueFrom(
    forkJoin(others.map((name) => ask(own.path(name), own.question))),
    { defaultValue: [] },
  );
  const held = own.decide(answers);
  if (held !== undefined) {
    own.leave();
    return { ok: false, ...(held.holder !== undefined && { holder: held.holder }) };
  }
  const dead = others.filter((_, index) => answers[index]?.kind === 'gone');
  // Whoever has an early name and lives finds it gone, and begins anew.
  for (const name of [...dead, ...own.names(earlyName)]) remove(own.path(name));
  return { ok: true, isSilent: own.isSilent, release: () => own.leave() };
}

/** An agent that listens in a folder. */
interface Candidate {
  readonly name: string;
  /** It has no socket. */
  readonly isSilent: boolean;
  /** What it asks the others. */
  readonly question: string;
  /** The entries of the folder that are called like that. */
  names(pattern: RegExp): readonly string[];
  path(entry: string): string;
  /** From now on it holds the folder, if nothing is returned. */
  decide(answers: readonly Answer[]): Held | undefined;
  leave(): void;
}

async function enter(folder: string, version: string, tells: object): Promise<Candidate> {
  const descriptor = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  // The path of a socket has 107 bytes at most (unix(7)); that of the folder may have more.
  const path = (entry: string) => `/proc/self/fd/${descriptor}/${entry}`;
  const id = randomBytes(8).toString('hex');
  const name = `agent-${id}.lock`;
  const self: Holder = {
    pid: process.pid,
    since: new Date(asyncScheduler.now()).toISOString(),
    version,
  };
  let holds = false;
  let preceding: Held | undefined;

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

  let isSilent = false;
  try {
    await listen(server, path(`${name}.new`));
  } catch (error) {
    isSilent = full.includes((error as NodeJS.ErrnoException).code ?? '');
    if (!isSilent) {
      closeSync(descriptor);
      throw error;
    }
  }
  try {
    if (!isSilent) renameSync(path(`${name}.new`), path(name)); // who is asked between bind and listen seems to be dead
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
      const held = answers.find((answer) => answer.kind === 'held') ?? preceding;
      holds = held === undefined;
      return held;
    },
  };
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    // An error that comes later, of a connection that cannot be taken, is nobody's.
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
 * Emits what is answered, and completes; undefined where the other side hangs up without a word, as
 * when its process ends.
 */
function askOnce(path: string, question: string): Observable<Answer | undefined> {
  return new Observable((subscriber) => {
    let said = '';
    const socket = connect(path, () => socket.write(question)).setEncoding('utf8');
    const answered = (answer: Answer | undefined) => {
      subscriber.next(answer);
      subscriber.complete();
    };
    socket.on('data', (piece: string) => (said += piece));
    socket.on('error', ({ code = '' }: NodeJS.ErrnoException) => {
      const hungUp = code === 'ECONNRESET' || code === 'EPIPE';
      answered(
        hungUp
          ? undefined
          : { kind: code === 'ECONNREFUSED' || code === 'ENOENT' ? 'gone' : 'held' },
      );
    });
    socket.on('close', () => answered(answerIn(said)));
    return () => socket.destroy();
  });
}

function answerIn(text: string): Answer | undefined {
  const { kind, holder } = members(text);
  return kind === 'held' ? heldBy(holder) : kind === 'gives-way' ? { kind } : undefined;
}

function heldBy(value: unknown): Held {
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
