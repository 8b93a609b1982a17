import type { Secret } from './secret.ts';

/** How it stands with a secret: what is served under its name, and why what came last is not, if so. */
export interface SecretState {
  readonly name: string;
  /** Where it comes from, for a person. */
  readonly source: string;
  /** Undefined until there is one that can be served. */
  readonly served: { readonly secret: Secret; readonly version: string } | undefined;
  readonly refused: string | undefined;
}
