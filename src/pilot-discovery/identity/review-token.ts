import type { Observable } from 'rxjs';
import type { CallerIdentity } from './caller-identity.ts';
import type { TokenClaims } from './token-claims.ts';

/** A token that a client presents. */
export interface TokenProof {
  readonly token: string;
  /** Not verified. */
  readonly claims: TokenClaims;
  /** `IP:port` of the client. */
  readonly address: string;
  /** The trust domain of the mesh. */
  readonly trustDomain: string;
}

/** Emits the caller that a token proves, once, and completes. Cold; never errors. */
export type ReviewToken = (proof: TokenProof) => Observable<CallerIdentity>;
