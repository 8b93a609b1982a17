/** An event of the secrets of gateways. */
export type CredentialEvent =
  /** A secret has content that proxies get. */
  | (OfCredential & {
      readonly type: 'credential-read';
      /** When its certificate expires, in ms since 1970; undefined for roots. */
      readonly expires: number | undefined;
    })
  /** A secret cannot be served. Proxies keep what they have. */
  | (OfCredential & { readonly type: 'credential-refused'; readonly reason: string })
  /** A secret that was served is gone. Proxies keep what they have. */
  | (OfCredential & { readonly type: 'credential-gone' })
  /** An account that could not read the Secrets of its namespace may read them now. */
  | { readonly type: 'credentials-allowed'; readonly identity: string }
  /** An account gets no secrets: it may not read them, or the API does not say whether it may. */
  | {
      readonly type: 'credentials-denied';
      readonly identity: string;
      readonly reason: string;
    };

interface OfCredential {
  readonly namespace: string;
  /** As proxies name it: `shop`, `shop-cacert`. */
  readonly name: string;
}
