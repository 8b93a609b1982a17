import type { IncomingMessage } from 'node:http';
import type { Agent } from 'node:https';
import {
  asyncScheduler,
  catchError,
  concat,
  defer,
  map,
  mergeMap,
  Observable,
  of,
  type SchedulerLike,
  takeWhile,
  timeout,
} from 'rxjs';
import { type HttpQuestion, openHttp, bodyOf } from '../http/http-answer.ts';
import { attentiveTimeout } from '../../operators/attentive-timer.ts';
import type { KubeAccess, FindAccess } from './access.ts';
import { accessQuestion, type KubeProgram } from './access-question.ts';
import { broken, type KubeFailure, refused } from './failure.ts';
import { type Decode, decodeJson } from './kube-object.ts';

export type KubeAnswer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly failure: KubeFailure };

/** An event of one watch. */
export type WatchSign =
  /** The API has accepted the watch: it reports each change from now on. */
  | { readonly type: 'opened' }
  | { readonly type: 'event'; readonly value: unknown }
  /** The watch is over, as each one is after some time; the connection may have broken. */
  | { readonly type: 'ended'; readonly reason: string }
  /** The API has been silent for so long that the connection may be dead. */
  | { readonly type: 'silent' }
  | { readonly type: 'refused'; readonly failure: KubeFailure };

/** Questions to an API server. */
export interface KubeApi {
  /** Asks once. Cold; emits one answer and completes; never errors. */
  get(path: string, decode?: Decode): Observable<KubeAnswer>;
  /** Listens to one watch until it is over. Cold; completes; never errors. */
  watch(path: string, decode?: Decode): Observable<WatchSign>;
}

/** Writes objects to an API server. */
export interface KubeWriter {
  /**
   * Creates an object in the collection at a path. Cold: each subscription asks once; emits the
   * object as the API has it then, or why there is none, and completes; never errors.
   *
   * @param body JSON; bytes if its text must not stay in the heap
   */
  create(path: string, body: string | Uint8Array, options?: WriteOptions): Observable<KubeAnswer>;
  /**
   * Creates the object at a path, or changes the fields that `body` has, even if another program
   * has written them. Other fields stay. Cold, and emits in the same way.
   *
   * @param body JSON
   */
  apply(path: string, body: string, options?: WriteOptions): Observable<KubeAnswer>;
  /**
   * Changes the fields that `body` has in the existing object at a path; null removes a field. If
   * `body` has a `resourceVersion`, and the object has another one, the status is 409. Cold, and
   * emits in the same way.
   *
   * @param body JSON
   */
  merge(path: string, body: string, options?: WriteOptions): Observable<KubeAnswer>;
}

export interface WriteOptions {
  readonly decode?: Decode;
  /** The advice if the right is missing. */
  readonly forbidden?: string;
}

/** The advice if the right to write objects is missing. */
const mayWrite = {
  create: 'allow it by a Role with create, and a RoleBinding',
  apply: 'allow it by a Role with create and patch, and a RoleBinding',
  merge: 'allow it by a Role with patch, and a RoleBinding',
};

/** The request that writes an object. */
interface Written {
  readonly method: 'POST' | 'PATCH';
  readonly type: string;
  readonly body: string | Uint8Array;
}

/** The largest list, event, object, and refusal. An object has 1.5 MB at most. In bytes. */
const largest = { list: 256 << 20, event: 16 << 20, object: 2 << 20, refusal: 64 << 10 };
/** How long the API may take to answer. In ms. */
const answerLimit = 30_000;
/** An API without changes sends a bookmark each minute. In ms. */
const silence = 150_000;
/**
 * Connections are kept briefly, because a watch follows its list. A connection whose other end is
 * gone is closed after 40 s without an answer to the kernel. In ms.
 */
const agentOptions = { keepAlive: true, keepAliveMsecs: 30_000, timeout: 15_000 };

/**
 * Returns the API of the access. Its connections close when they are no longer used.
 *
 * @param program the name by which the audit log of the API knows the program
 */
export function kubeApi(
  find: FindAccess,
  program: KubeProgram,
  scheduler: SchedulerLike = asyncScheduler,
): KubeApi & KubeWriter {
  let agent: Agent | undefined;
  const question = (access: KubeAccess): HttpQuestion => ({
    ...accessQuestion(access, program),
    agent:
      access.server.startsWith('https:') &&
      (agent ??= new (process.getBuiltinModule('node:https').Agent)(agentOptions)),
  });
  /** Asks with the current access; `failed` turns a failure into a value. */
  function ask<T>(
    path: string,
    read: (where: string, message: IncomingMessage) => Observable<T>,
    failed: (failure: KubeFailure) => T,
    written?: Written,
  ) {
    return defer(find).pipe(
      mergeMap((access) =>
        openHttp(access.server + path, withBody(question(access), written)).pipe(
          attentiveTimeout(answerLimit, scheduler),
          mergeMap((message) => read(access.server + path.replace(/\?.*/, ''), message)),
          catchError((error: unknown) => of(failed(broken(access.server, error)))),
        ),
      ),
      catchError((error: unknown) => of(failed(broken('', error)))),
    );
  }
  return {
    get: (path, decode = decodeJson) =>
      ask(path, answered({ decode, statuses: [200], most: largest.list }, scheduler), unanswered),
    create: (path, body, options = {}) => {
      const read = answered({ ...asWritten(mayWrite.create), ...options }, scheduler);
      return ask(path, read, unanswered, { method: 'POST', type: 'application/json', body });
    },
    apply: (path, body, options = {}) => {
      const read = answered({ ...asWritten(mayWrite.apply), ...options }, scheduler);
      const type = 'application/apply-patch+yaml';
      const owned = `${path}?fieldManager=${program}&force=true`;
      return ask(owned, read, unanswered, { method: 'PATCH', type, body });
    },
    merge: (path, body, options = {}) => {
      const read = answered({ ...asWritten(mayWrite.merge), ...options }, scheduler);
      const type = 'application/merge-patch+json';
      return ask(path, read, unanswered, { method: 'PATCH', type, body });
    },
    watch: (path, decode = decodeJson) =>
      ask(path, watching(decode, scheduler), refusedSign).pipe(
        map((sign, index): WatchSign =>
          sign.type === 'refused' && index > 0
            ? { type: 'ended', reason: sign.failure.reason }
            : sign,
        ),
        takeWhile(({ type }) => type !== 'silent', true),
      ),
  };
}

const unanswered = (failure: KubeFailure): KubeAnswer => ({ ok: false, failure });

const refusedSign = (failure: KubeFailure): WatchSign => ({ type: 'refused', failure });

const watching =
  (decode: Decode, scheduler: SchedulerLike) =>
  (where: string, message: IncomingMessage): Observable<WatchSign> =>
    message.statusCode === 200
      ? watched(message, decode).pipe(
          timeout({ each: silence, scheduler, with: () => of<WatchSign>({ type: 'silent' }) }),
        )
      : refusal(where, message, scheduler).pipe(map(refusedSign));

interface ExpectedAnswer extends Required<Pick<WriteOptions, 'decode'>> {
  /** The statuses of a good answer. */
  readonly statuses: readonly number[];
  /** The largest good answer, in bytes. */
  readonly most: number;
  readonly forbidden?: string;
}

/** Returns the answer that is expected to the write of an object. */
const asWritten = (forbidden: string): ExpectedAnswer => ({
  decode: decodeJson,
  statuses: [200, 201],
  most: largest.object,
  forbidden,
});

const answered =
  ({ decode, statuses, most, forbidden }: ExpectedAnswer, scheduler: SchedulerLike) =>
  (where: string, message: IncomingMessage): Observable<KubeAnswer> =>
    statuses.includes(message.statusCode ?? 0)
      ? bodyOf(message, most).pipe(
          attentiveTimeout(answerLimit, scheduler),
          map((body) => ({ ok: true, value: decode(body) })),
        )
      : refusal(where, message, scheduler, forbidden).pipe(map(unanswered));

/** Returns a request with the object to write, if there is one. */
function withBody(question: HttpQuestion, written: Written | undefined): HttpQuestion {
  if (written === undefined) return question;
  const { method, type, body } = written;
  return { ...question, method, headers: { ...question.headers, 'content-type': type }, body };
}

function refusal(
  where: string,
  message: IncomingMessage,
  scheduler: SchedulerLike,
  forbidden?: string,
): Observable<KubeFailure> {
  const { statusCode = 0, headers } = message;
  return bodyOf(message, largest.refusal).pipe(
    attentiveTimeout(answerLimit, scheduler),
    map((body) =>
      refused(where, { status: statusCode, headers, body: body.toString() }, forbidden),
    ),
  );
}

function watched(message: IncomingMessage, decode: Decode): Observable<WatchSign> {
  return concat(
    of<WatchSign>({ type: 'opened' }),
    lines(message, largest.event).pipe(
      map((line): WatchSign => ({ type: 'event', value: decode(line) })),
    ),
    of<WatchSign>({ type: 'ended', reason: 'it ends the watch' }),
  );
}

/**
 * Emits each line of an answer as it arrives. Must be subscribed to as soon as the answer arrives.
 */
function lines(message: IncomingMessage, most: number): Observable<Buffer> {
  return new Observable((subscriber) => {
    let pieces: Buffer[] = [];
    let size = 0;
    message.on('data', (piece: Buffer) => {
      let from = 0;
      for (let end = piece.indexOf('\n'); end >= 0; end = piece.indexOf('\n', from)) {
        pieces.push(piece.subarray(from, end));
        const line = pieces.length === 1 ? pieces[0] : Buffer.concat(pieces);
        [pieces, size, from] = [[], 0, end + 1];
        if (line !== undefined && line.length > 0) subscriber.next(line);
      }
      pieces.push(piece.subarray(from));
      size += piece.length - from;
      if (size > most) subscriber.error(new Error(`an event has more than ${most} bytes`));
    });
    message.on('end', () => subscriber.complete());
  });
}
