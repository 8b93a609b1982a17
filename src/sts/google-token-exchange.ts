import { asyncScheduler, defer, map, type Observable, of, type SchedulerLike, switchMap } from 'rxjs';
import type { HttpAnswer, HttpQuestion } from '../node/http-answer.ts';
import type { Settled } from '../operators/settle.ts';
import { askForToken, type TokenAnswer } from './ask-for-token.ts';
import type { GottenToken } from './gotten-token.ts';
import type { ExchangeRequest, Exchanged, TokenExchange } from './token-exchange.ts';

export interface GoogleTokenExchangeOptions {
  /** Of the project whose service account for the mesh the token is for. */
  readonly projectNumber: string;
  readonly trustDomain: string;
  /** `GKE_CLUSTER_URL`. */
  readonly clusterUrl: string;
  /** Asks a URL once, on subscribe. Never errors. */
  ask(url: string, question: HttpQuestion): Observable<Settled<HttpAnswer>>;
}

const federatedUrl = 'https://securetoken.googleapis.com/v1/identitybindingtoken';
const accessUrl = 'https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/';
const cloudPlatform = 'https://www.googleapis.com/auth/cloud-platform';
/** In s. */
const lifetime = 3_600;
/** A token is got anew while it is still good for so long. In ms. */
const grace = 300_000;

/**
 * Gets access tokens of Google Cloud for the tokens of a workload in two steps, by the rules of the Go agent: a federated token for the workload's own, and for that one
 * of the mesh's service account. That one is kept until 5 minutes before its end.
 */
export function googleTokenExchange(options: GoogleTokenExchangeOptions, scheduler: SchedulerLike = asyncScheduler): TokenExchange {
  const { projectNumber, trustDomain, clusterUrl } = options;
  const account = `service-${projectNumber}@gcp-sa-meshdataplane.iam.gserviceaccount.com`;
  let federated: GottenToken | undefined;
  let access: GottenToken | undefined;

  function post(url: string, body: object, headers: Readonly<Record<string, string>> = {}) {
    return options.ask(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) });
  }
  function askFederated({ subjectToken, scope }: ExchangeRequest): Observable<TokenAnswer> {
    const body = {
      audience: `identitynamespace:${trustDomain}:${clusterUrl}`,
      grantType: 'urn:ietf:params:oauth:grant-type:token-exchange',
      requestedTokenType: 'urn:ietf:params:oauth:token-type:access_token',
      subjectTokenType: 'urn:ietf:params:oauth:token-type:jwt',
      subjectToken,
      scope: scope === '' ? cloudPlatform : scope,
    };
    return askForToken(post(federatedUrl, body), scheduler);
  }
  function askAccess(token: string): Observable<TokenAnswer> {
    const body = { name: '', delegates: null, scope: [cloudPlatform], lifetime: { seconds: lifetime } };
    const headers = { authorization: `Bearer ${token}` };
    return askForToken(post(`${accessUrl}${account}:generateAccessToken`, body, headers), scheduler);
  }
  function given({ token, expires }: GottenToken): Exchanged {
    return { ok: true, accessToken: token, expiresIn: Math.floor((expires - scheduler.now()) / 1000) };
  }
  const failed = (step: string, reason: string): Exchanged => ({ ok: false, reason: `failed to exchange ${step} token: ${reason}` });

  return {
    exchange: (request) =>
      defer(() => {
        if (access !== undefined && access.expires - scheduler.now() > grace) return of(given(access));
        return askFederated(request).pipe(
          switchMap((first) => {
            if (!first.ok) return of(failed('federated', first.reason));
            federated = first.token;
            return askAccess(first.token.token).pipe(
              map((second) => {
                if (!second.ok) return failed('access', second.reason);
                access = second.token;
                return given(access);
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
      ].flatMap(({ type, token }) => (token === undefined ? [] : [{ type, issued: token.issued, expires: token.expires }])),
    }),
  };
}
