import type { Selector } from './values.ts';

/**
 * A policy that is not served yet. It restricts access, so connections to the ports that it covers
 * are refused.
 */
export interface AccessPolicy {
  readonly selector: Selector;
  readonly covers: Covered;
}

export type Covered =
  | { readonly type: 'nothing' }
  | { readonly type: 'ports'; readonly ports: readonly number[] }
  /** `http`: not those of which the protocol is known to be another. */
  | { readonly type: 'all'; readonly protocols: 'any' | 'http' };
