/** How tokens (JWT) of one issuer are checked. */
export interface TokenRule {
  /** `iss` of a token. */
  readonly issuer: string;
  /** A token has one of them in `aud`; any token if there is none. */
  readonly audiences: readonly string[];
  /** The public keys, as JWKS for Envoy. */
  readonly keys: string;
  /** Where a token is; in `Authorization: Bearer` and `access_token` if all three are empty. */
  readonly fromHeaders: readonly TokenHeader[];
  readonly fromParams: readonly string[];
  readonly fromCookies: readonly string[];
  /** Whether the application gets the token too. */
  readonly original: 'forwarded' | 'removed';
  /** The header that gets the claims, encoded; '' for none. */
  readonly payloadHeader: string;
  /** Headers that get a claim each. */
  readonly claimHeaders: readonly ClaimHeader[];
}

export interface TokenHeader {
  readonly name: string;
  /** What stands before the token: `Bearer `. */
  readonly prefix: string;
}

export interface ClaimHeader {
  readonly header: string;
  /** Parts of a nested one are joined by dots. */
  readonly claim: string;
}
