import type { X509Certificate } from 'node:crypto';
import { decodeJwt } from 'jose';
import {
  asyncScheduler,
  catchError,
  defer,
  map,
  type Observable,
  of,
  type SchedulerLike,
  switchMap,
} from 'rxjs';
import { isOneWord } from '../../../shared/files/is-one-word.ts';
import { bytesOutside, largest } from '../../../shared/files/outside-file.ts';
import { setFlaws } from '../certificates.ts';
import { isIssuer } from '../../../shared/certificates/is-issuer.ts';
import { pemCertificates, timesOf } from '../../../shared/certificates/key-pair-flaw.ts';
import { readOwnPair } from '../own-pair.ts';
import type { SecretSet } from '../secret.ts';
import type { Authority, IssueFailure } from './authority.ts';
import { certificateRequest, type KeyOptions } from './certificate-request.ts';

/**
 * Returns why a token is of no use now; undefined if it is, or if it is not a JWT, which only the
 * authority can judge. Pure.
 *
 * Checks `exp` (RFC 7519 §4.1.4). The Go agent 1.6 checks `iat`, and considers every token expired.
 *
 * @param now ms since 1970
 */
function tokenFlaw(token: string, now: number): string | undefined {
  if (token === '') return 'the token is empty';
  // The token is never shown; the errors of gRPC about a header would show it.
  if (!isOneWord(token)) return 'the token is not one word of ASCII';
  try {
    const { exp } = decodeJwt(token);
    return exp !== undefined && exp * 1000 <= now
      ? `the token has expired at ${new Date(exp * 1000).toISOString()}`
      : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns the SPIFFE URI of a token's bearer; undefined if the token is not that of a Kubernetes
 * service account. Pure.
 */
export function workloadIdentity(token: string, trustDomain: string): string | undefined {
  try {
    const [, namespace, account] =
      /^system:serviceaccount:([^:/]+):([^:/]+)$/.exec(decodeJwt(token).sub ?? '') ?? [];
    return namespace === undefined || account === undefined
      ? undefined
      : `spiffe://${trustDomain}/ns/${namespace}/sa/${account}`;
  } catch {
    return undefined;
  }
}

/** The certificates of each text of an answer. */
type Chain = readonly (readonly X509Certificate[])[];

/**
 * Returns why the answer of an authority is not a chain from a leaf to a root; undefined if it is
 * one. The last text has the roots: several while the root of a mesh changes. Does not check
 * whether the key fits, nor the time of the leaf. Pure.
 *
 * @param chain the certificates of each text
 * @param now ms since 1970
 */
function chainFlaw(chain: Chain, now: number): string | undefined {
  if (chain.length < 2)
    return `a chain of ${chain.length} has no root: at least 2 certificates are needed`;
  if (chain.some((certificates) => certificates.length === 0))
    return 'a certificate of the chain does not parse';
  const [below, roots] = [belowRoots(chain), chain.at(-1) ?? []];
  const broken = below.some((certificate, index) => {
    const next = below[index + 1];
    const issuers = next === undefined ? roots : [next];
    return !issuers.some((issuer) => isIssuer(issuer, certificate));
  });
  if (broken) return 'a certificate of the chain is not signed by the one that follows it';
  const expired = below.findIndex((certificate, index) => index > 0 && endOf(certificate) <= now);
  return expired === -1
    ? undefined
    : `certificate ${expired + 1} of the chain has expired at ${below[expired]?.validTo}`;
}

function belowRoots(chain: Chain): readonly X509Certificate[] {
  return chain.slice(0, -1).flat();
}

function endOf(certificate: X509Certificate): number {
  return timesOf(certificate)[1];
}

/** The result of one request for a certificate. Times in ms; `expires` since 1970. */
export type Issue =
  | { readonly ok: true; readonly set: SecretSet; readonly expires: number; readonly took: number }
  | {
      readonly ok: false;
      readonly reason: string;
      readonly failure: IssueFailure;
      readonly took: number;
    };

export interface IssueOptions extends KeyOptions {
  /** The file of the token, read for each request; empty if there is none. */
  readonly token: string;
  /**
   * The client pair for the authority, read for each request; undefined for none. If the pair
   * works, a token may be missing or have expired; if it does not, the token replaces it.
   */
  readonly client: { readonly chain: string; readonly key: string } | undefined;
  readonly trustDomain: string;
  /** The lifetime to request, in ms. */
  readonly ttl: number;
}

/**
 * The identity in a request without a token: a DNS name, as in the Go agent. The authority knows
 * the right one.
 */
const nameless = 'default';

/**
 * Requests a certificate for a new key from the authority, and checks its answer. Emits the result,
 * and completes. Cold: a subscription is a request. Never errors.
 */
export function issueCertificate(
  authority: Authority,
  options: IssueOptions,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<Issue> {
  return defer(() => {
    const begun = scheduler.now();
    const failed = (reason: string, failure: IssueFailure = 'refused'): Issue => ({
      ok: false,
      reason,
      failure,
      took: scheduler.now() - begun,
    });
    return defer(async () => {
      const token = await proof(options, scheduler.now());
      const identity = workloadIdentity(token, options.trustDomain);
      if (token !== '' && identity === undefined)
        throw new Error(`${options.token}: the token is not that of a service account`);
      return { token, ...(await certificateRequest(identity ?? nameless, options)) };
    }).pipe(
      switchMap(({ token, csr, key }) =>
        authority.sign(csr, token, options.ttl).pipe(
          map((signed): Issue => {
            if (!signed.ok) return failed(signed.reason, signed.failure);
            const set = {
              pair: { chain: signed.chain.map(ended).join(''), key },
              roots: ended(signed.chain.at(-1) ?? ''),
            };
            const { pair, roots } = setFlaws(set, scheduler.now());
            const chain = signed.chain.map((pem) => pemCertificates(pem) ?? []);
            const flaw = chainFlaw(chain, scheduler.now()) ?? pair ?? roots;
            if (flaw !== undefined)
              return failed(`${authority.name} answered a chain that cannot be served: ${flaw}`);
            return {
              ok: true,
              set,
              expires: Math.min(...belowRoots(chain).map(endOf)),
              took: scheduler.now() - begun,
            };
          }),
        ),
      ),
      // A missing file may appear in a moment.
      catchError((error: unknown) => of(failed((error as Error).message, 'fleeting'))),
    );
  });
}

/** Returns the token to send; empty if the pair replaces it. */
async function proof({ token: path, client }: IssueOptions, now: number): Promise<string> {
  const ownPair = client && (await readOwnPair(client, now));
  return goodToken(path, now).catch((error: unknown) => {
    if (ownPair?.ok === true) return '';
    throw ownPair === undefined
      ? error
      : new Error(`${ownPair.reason}; ${(error as Error).message}`);
  });
}

async function goodToken(path: string, now: number): Promise<string> {
  const token = await readToken(path);
  const flaw = tokenFlaw(token, now);
  if (flaw !== undefined) throw new Error(`${path}: ${flaw}`);
  return token;
}

async function readToken(path: string): Promise<string> {
  if (path === '') throw new Error('there is no token: JWT_POLICY names none');
  return bytesOutside(path, largest.token).then(
    (bytes) => bytes.toString().trim(),
    (error: unknown) =>
      Promise.reject(new Error(`the token is missing: ${path}: ${(error as Error).message}`)),
  );
}

function ended(pem: string): string {
  return pem.endsWith('\n') ? pem : `${pem}\n`;
}
