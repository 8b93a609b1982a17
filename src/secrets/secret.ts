/** What Envoy is given under one name; all PEM. */
export type Secret =
  { readonly kind: 'pair'; readonly chain: string; readonly key: string } | { readonly kind: 'roots'; readonly roots: string };

/** What belongs together: a pair, the roots to trust, or both. It is served whole, or not at all. */
export interface SecretSet {
  readonly pair?: { readonly chain: string; readonly key: string };
  readonly roots?: string;
}

/** One reading of a set at its source, which is named for a person. `refused` is what can not be served, and why. */
export type SetReading =
  | { readonly type: 'set'; readonly source: string; readonly set: SecretSet }
  | { readonly type: 'refused'; readonly source: string; readonly reason: string };
