/** How tokens (JWT) of one issuer are checked. */
export interface TokenRule {
  /** `iss` of a token. */
  readonly issuer: string;
  /** A token has one of them in `aud`; any token if there is none. */
  readonly audiences: readonly string[];
  readonly keys: RuleKeys;
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

/** The public keys of an issuer. */
export type RuleKeys =
  | {
      readonly type: 'known';
      /** As JWKS for Envoy. */
      readonly keys: string;
    }
  | { readonly type: 'fetched'; readonly from: KeysAddress };

/** Where keys are fetched. */
export interface KeysAddress {
  /** What is there: the keys, or what an issuer says of itself (OpenID), with their address. */
  readonly has: 'keys' | 'discovery';
  readonly url: string;
  /** How long an answer may take, in ms. */
  readonly timeoutMs: number;
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
