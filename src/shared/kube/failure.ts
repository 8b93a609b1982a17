import type { HttpAnswer } from '../http/http-answer.ts';
import { parseJson } from '../text/parse-json.ts';

/** Why a question to the API has no answer. */
export interface KubeFailure {
  /** For a person: what failed, where, and what to do. It contains no secret. */
  readonly reason: string;
  /** The HTTP status; undefined if there was no answer. */
  readonly status: number | undefined;
  /** How long the server asks the client to wait, in ms; 0 if it does not say. */
  readonly pause: number;
}

/** The advice about an answer, if the API itself gives none. */
const advice: Readonly<Record<number, string>> = {
  401: 'the token or the certificate is not one that it knows, or has expired',
  404: 'it may not be installed',
  410: 'what is asked for is too old',
  429: 'it has too much to do',
};

/** The HTTP status of a failure if an answer cannot be used: the API itself can be reached. */
export const answered = 200;

const toReadThem = 'allow it by a Role with list and watch, and a RoleBinding';

/** In characters: the server may send a text of any length. */
const longest = 400;

/**
 * Returns the failure of an answer that is a refusal; `where` is the URL that was asked. Pure.
 *
 * @param forbidden the advice if a right is missing
 */
export function refused(
  where: string,
  { status, headers, body }: Pick<HttpAnswer, 'status' | 'headers' | 'body'>,
  forbidden: string = toReadThem,
): KubeFailure {
  const [message, hint] = [statusMessage(body), status === 403 ? forbidden : advice[status]];
  const seconds = Number(headers['retry-after'] ?? 0);
  return {
    reason: `${where}: ${status}${message === '' ? '' : ` ${message}`}${hint === undefined ? '' : ` (${hint})`}`,
    status,
    pause: Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0), 60) * 1_000 : 0,
  };
}

/** Returns the failure of a connection before or during an answer. Pure. */
export function broken(server: string, error: unknown): KubeFailure {
  return {
    reason: server === '' ? messageOf(error) : `${server}: ${messageOf(error)}`,
    status: undefined,
    pause: 0,
  };
}

/**
 * Returns the message of an API `Status`:
 * https://kubernetes.io/docs/reference/using-api/api-concepts/
 */
function statusMessage(body: string): string {
  try {
    const { message } = parseJson(body) as { readonly message?: unknown };
    return typeof message === 'string'
      ? message.replaceAll(/[\p{C}\s]+/gu, ' ').slice(0, longest)
      : '';
  } catch {
    return '';
  }
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // A host with several addresses has an error for each of them.
  const first: unknown = error instanceof AggregateError ? error.errors[0] : undefined;
  const { message, code } = (first instanceof Error ? first : error) as NodeJS.ErrnoException;
  if (
    code === 'DEPTH_ZERO_SELF_SIGNED_CERT' ||
    /VERIFY|SELF_SIGNED|UNABLE_TO_GET_ISSUER/.test(code ?? '')
  ) {
    return `the root that is given does not vouch for its certificate: ${message}`;
  }
  return message === '' ? (code ?? 'unknown') : message;
}
