import {
  asyncScheduler,
  defer,
  map,
  type Observable,
  of,
  type SchedulerLike,
  switchMap,
  timeout,
  timer,
} from 'rxjs';
import type { HttpAnswer, HttpQuestion } from '../../shared/http/http-answer.ts';
import type { Settled } from '../../operators/settle.ts';
import type { Exchanged, ExchangeRequest, TokenExchange } from './token-exchange.ts';
import { parseJson } from '../../shared/text/parse-json.ts';

/** A token with its times, in ms since 1970. */
export interface GottenToken {
  readonly token: string;
  readonly issued: number;
  readonly expires: number;
}

/** The lifetime of a token whose response has no expiry. In ms. */
const standard = 3_600_000;

/**
 * Returns the token in a response of Google to `identitybindingtoken`, or to `generateAccessToken`,
 * which uses other names; undefined if there is none. Pure.
 */
function gottenToken(text: string, now: number): GottenToken | undefined {
  const {
    access_token: federated,
    expires_in: seconds,
    accessToken: access,
    expireTime,
  } = members(text);
  const token = federated ?? access;
  if (typeof token !== 'string' || token === '') return undefined;
  const expires =
    typeof seconds === 'number'
      ? now + seconds * 1000
      : typeof expireTime === 'string'
        ? Date.parse(expireTime)
        : Number.NaN;
  return { token, issued: now, expires: Number.isNaN(expires) ? now + standard : expires };
}

function members(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = parseJson(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

export type TokenAnswer =
  | { readonly ok: true; readonly token: GottenToken }
  | { readonly ok: false; readonly reason: string };

/**
 * The time limit of one response in ms, the number of tries, and the pause after a failure in ms.
 */
const timeoutMs = 5_000;
const tries = 5;
const pause = 10;

/**
 * Requests a token, up to 5 times: each subscription to `answer$` is a whole request (the Go agent
 * sends an empty body from the second time on). Does not retry a refusal (4xx). Emits one answer
 * and completes. Never errors.
 */
function askForToken(
  answer$: Observable<Settled<Pick<HttpAnswer, 'status' | 'body'>>>,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<TokenAnswer> {
  function attempt(left: number): Observable<TokenAnswer> {
    const silent: Settled<Pick<HttpAnswer, 'status' | 'body'>> = {
      ok: false,
      error: new Error(`no answer within ${timeoutMs / 1000} s`),
    };
    return answer$.pipe(
      timeout({ first: timeoutMs, with: () => of(silent), scheduler }),
      switchMap((answer) => {
        const status = answer.ok ? answer.value.status : 0;
        if (status === 200 && answer.ok) {
          const token = gottenToken(answer.value.body, scheduler.now());
          return of<TokenAnswer>(
            token === undefined
              ? { ok: false, reason: 'the answer has no token' }
              : { ok: true, token },
          );
        }
        if (left > 1 && (status < 400 || status >= 500))
          return timer(pause, scheduler).pipe(switchMap(() => attempt(left - 1)));
        return of<TokenAnswer>({
          ok: false,
          reason: answer.ok ? `the answer is ${status}` : (answer.error as Error).message,
        });
      }),
    );
  }
  return attempt(tries);
}

export interface GoogleTokenExchangeOptions {
  /** The number of the project whose mesh service account the token is for. */
  readonly projectNumber: string;
  readonly trustDomain: string;
  /** `GKE_CLUSTER_URL`. */
  readonly clusterUrl: string;
  /** Requests a URL once, on subscribe. Never errors. */
  ask(
    url: string,
    question: HttpQuestion,
  ): Observable<Settled<Pick<HttpAnswer, 'status' | 'body'>>>;
}

const federatedUrl = 'https://securetoken.googleapis.com/v1/identitybindingtoken';
const accessUrl = 'https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/';
const cloudPlatform = 'https://www.googleapis.com/auth/cloud-platform';
/** The lifetime that the agent asks for, in s. */
const lifetime = 3_600;
/** A token is renewed when it is valid for less than this. In ms. */
const grace = 300_000;

/**
 * Exchanges the tokens of a workload for access tokens of Google Cloud in two steps, by the rules
 * of the Go agent. The workload's token gives a federated token, and that one gives a token of the
 * mesh's service account. The latter is kept until 5 minutes before its end.
 */
export function googleTokenExchange(
  options: GoogleTokenExchangeOptions,
  scheduler: SchedulerLike = asyncScheduler,
): TokenExchange {
  let federated: GottenToken | undefined;
  let access: GottenToken | undefined;
  function ask({ url, question }: TokenQuestion): Observable<TokenAnswer> {
    return askForToken(options.ask(url, question), scheduler);
  }

  return {
    exchange: (request) =>
      defer(() => {
        if (
          access !== undefined &&
          access.issued <= scheduler.now() && // else the clock was set back: its end is not known
          access.expires - scheduler.now() > grace
        )
          return of(given(access, scheduler.now()));
        return ask(federatedQuestion(request, options)).pipe(
          switchMap((first) => {
            if (!first.ok) return of(failed('federated', first.reason));
            federated = first.token;
            return ask(accessQuestion(first.token.token, options)).pipe(
              map((second) => {
                if (!second.ok) return failed('access', second.reason);
                access = second.token;
                return given(access, scheduler.now());
              }),
            );
          }),
        );
      }),
    dump: () => ({
      ok: true,
      tokens: [
        { type: 'federated token', token: federated },
        { type: 'access token', token: access },
      ].flatMap(({ type, token }) =>
        token === undefined ? [] : [{ type, issued: token.issued, expires: token.expires }],
      ),
    }),
  };
}

interface TokenQuestion {
  readonly url: string;
  readonly question: HttpQuestion;
}

function federatedQuestion(
  { subjectToken, scope }: ExchangeRequest,
  { trustDomain, clusterUrl }: GoogleTokenExchangeOptions,
): TokenQuestion {
  const body = {
    audience: `identitynamespace:${trustDomain}:${clusterUrl}`,
    grantType: 'urn:ietf:params:oauth:grant-type:token-exchange',
    requestedTokenType: 'urn:ietf:params:oauth:token-type:access_token',
    subjectTokenType: 'urn:ietf:params:oauth:token-type:jwt',
    subjectToken,
    scope: scope === '' ? cloudPlatform : scope,
  };
  return { url: federatedUrl, question: post(body) };
}

function accessQuestion(
  federated: string,
  { projectNumber }: GoogleTokenExchangeOptions,
): TokenQuestion {
  const account = `service-${projectNumber}@gcp-sa-meshdataplane.iam.gserviceaccount.com`;
  const body = {
    name: '',
    delegates: null,
    scope: [cloudPlatform],
    lifetime: { seconds: lifetime },
  };
  return {
    url: `${accessUrl}${account}:generateAccessToken`,
    question: post(body, { authorization: `Bearer ${federated}` }),
  };
}

function post(body: object, headers: Readonly<Record<string, string>> = {}): HttpQuestion {
  return {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  };
}

function given({ token, expires }: GottenToken, now: number): Exchanged {
  return { ok: true, accessToken: token, expiresIn: Math.floor((expires - now) / 1000) };
}

function failed(step: string, reason: string): Exchanged {
  return { ok: false, reason: `failed to exchange ${step} token: ${reason}` };
}
