import { readFile } from 'node:fs/promises';
import { asyncScheduler, catchError, defer, map, type Observable, of, type SchedulerLike, switchMap } from 'rxjs';
import { pemCertificates } from '../secrets/pem-certificates.ts';
import type { SecretSet } from '../secrets/secret.ts';
import { setFlaw } from '../secrets/set-flaw.ts';
import type { Authority } from './authority.ts';
import { certificateRequest, type KeyOptions } from './certificate-request.ts';
import { chainFlaw } from './chain-flaw.ts';
import { tokenFlaw } from './token-flaw.ts';
import { workloadIdentity } from './workload-identity.ts';

/** What came of one request for a certificate. Times in ms; `expires` since 1970. */
export type Issue =
  | { readonly ok: true; readonly set: SecretSet; readonly expires: number; readonly took: number }
  | { readonly ok: false; readonly reason: string; readonly isFleeting: boolean; readonly took: number };

export interface IssueOptions extends KeyOptions {
  /** The file of the token, read for each request, empty if there is none; undefined where a client certificate stands for it. */
  readonly token: string | undefined;
  readonly trustDomain: string;
  /** What is asked for, in ms. */
  readonly ttl: number;
}

/** For whom a certificate is asked where no token says it: as in the Go agent, a DNS name. The authority knows better. */
const nameless = 'default';

/**
 * Asks the authority for a certificate of a new key, and checks what it answers: emits what came of it, and completes. Cold: a subscription is a
 * request. Never errors.
 */
export function issueCertificate(
  authority: Authority,
  options: IssueOptions,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<Issue> {
  return defer(() => {
    const begun = scheduler.now();
    const failed = (reason: string, isFleeting = false): Issue => ({ ok: false, reason, isFleeting, took: scheduler.now() - begun });
    return defer(async () => {
      const token = options.token === undefined ? '' : await readToken(options.token);
      const flaw = options.token === undefined ? undefined : tokenFlaw(token, scheduler.now());
      if (flaw !== undefined) throw new Error(`${options.token}: ${flaw}`);
      const identity = workloadIdentity(token, options.trustDomain);
      if (token !== '' && identity === undefined) throw new Error(`${options.token}: the token is none of a service account`);
      return { token, ...(await certificateRequest(identity ?? nameless, options)) };
    }).pipe(
      switchMap(({ token, csr, key }) =>
        authority.sign(csr, token, options.ttl).pipe(
          map((signed): Issue => {
            if (!signed.ok) return failed(signed.reason, signed.isFleeting);
            const set = { pair: { chain: signed.chain.map(ended).join(''), key }, roots: ended(signed.chain.at(-1) ?? '') };
            const flaw = chainFlaw(signed.chain) ?? setFlaw(set, scheduler.now());
            if (flaw !== undefined) return failed(`${authority.name} answered what can not be served: ${flaw}`);
            const [leaf] = pemCertificates(set.pair.chain) ?? [];
            return { ok: true, set, expires: Date.parse(leaf?.validTo ?? ''), took: scheduler.now() - begun };
          }),
        ),
      ),
      catchError((error: unknown) => of(failed((error as Error).message, true))), // a file may be there in a moment
    );
  });
}

async function readToken(path: string): Promise<string> {
  if (path === '') throw new Error('there is no token: JWT_POLICY names none');
  return readFile(path, 'utf8').then(
    (text) => text.trim(),
    (error: unknown) => Promise.reject(new Error(`the token is missing: ${(error as Error).message}`)),
  );
}

function ended(pem: string): string {
  return pem.endsWith('\n') ? pem : `${pem}\n`;
}
