import type { TypedView } from './view.ts';

/**
 * The secrets that a proxy may have of those that it names; or why it does not get some of them.
 */
export type SecretsSign =
  | { readonly type: 'secrets'; readonly view: TypedView }
  | { readonly type: 'secrets-refused'; readonly reason: string };
