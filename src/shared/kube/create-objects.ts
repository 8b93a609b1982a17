import type { Agent } from 'node:https';
import { catchError, defer, map, mergeMap, type Observable, of } from 'rxjs';
import { type HttpAnswer, httpAnswer } from '../http/http-answer.ts';
import { parseJson } from '../text/parse-json.ts';
import type { FindAccess } from './access.ts';
import { accessQuestion, type KubeProgram } from './access-question.ts';
import { broken, refused } from './failure.ts';
import { kept, type KubeAnswer } from './kube-api.ts';

/**
 * Creates an object by the API at a path. Emits the object as the API answers it, or why there is
 * none, and completes. Cold: each subscription creates one. Never errors, and has no time limit.
 */
export type CreateObject = (
  path: string,
  object: Readonly<Record<string, unknown>>,
) => Observable<KubeAnswer>;

/** The largest answer, in bytes. */
const largest = 1 << 20;

/**
 * Returns how objects are created by an API. Its connections close when they are no longer used.
 *
 * @param forbidden the advice if a right is missing
 */
export function createObjects(
  find: FindAccess,
  program: KubeProgram,
  forbidden: string,
): CreateObject {
  let agent: Agent | undefined;
  const answerOf = (where: string, answer: HttpAnswer): KubeAnswer =>
    answer.status === 200 || answer.status === 201
      ? { ok: true, value: parseJson(answer.body) }
      : { ok: false, failure: refused(where, answer, forbidden) };
  return (path, object) =>
    defer(find).pipe(
      mergeMap((access) => {
        const { headers, ...credentials } = accessQuestion(access, program);
        const where = access.server + path;
        const question = {
          ...credentials,
          method: 'POST' as const,
          headers: { ...headers, 'content-type': 'application/json' },
          body: JSON.stringify(object),
          agent:
            access.server.startsWith('https:') &&
            (agent ??= new (process.getBuiltinModule('node:https').Agent)(kept)),
        };
        return httpAnswer(where, question, largest).pipe(
          map((answer): KubeAnswer => {
            if (!answer.ok) return { ok: false, failure: broken(access.server, answer.error) };
            return answerOf(where, answer.value);
          }),
        );
      }),
      catchError((error: unknown) => of<KubeAnswer>({ ok: false, failure: broken('', error) })),
    );
}
