/** How tokens (JWT) of one issuer are checked. */
export interface TokenRule {
  /** `iss` of a token. */
  readonly issuer: string;
  /** A token must have one of them in `aud`; empty for any. */
  readonly audiences: readonly string[];
  readonly keys: RuleKeys;
  /** The places of a token. If all three are empty: `Authorization: Bearer` and `access_token`. */
  readonly fromHeaders: readonly TokenHeader[];
  readonly fromParams: readonly string[];
  readonly fromCookies: readonly string[];
  /** Whether the application gets the token too. */
  readonly original: 'forwarded' | 'removed';
  /** The header that gets the claims, encoded; '' for none. */
  readonly payloadHeader: string;
  /** Headers that get one claim each. */
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

/** The address from which keys are fetched. */
export interface KeysAddress {
  /**
   * The content: the keys, or the issuer's metadata (OpenID), which has the address of the keys.
   */
  readonly has: 'keys' | 'discovery';
  readonly url: string;
  /** How long an answer may take, in ms; a minute at most. */
  readonly timeoutMs: number;
}

export interface TokenHeader {
  readonly name: string;
  /** The text in front of the token: `Bearer `. */
  readonly prefix: string;
}

export interface ClaimHeader {
  readonly header: string;
  /** Parts of a nested claim are joined by dots. */
  readonly claim: string;
}
