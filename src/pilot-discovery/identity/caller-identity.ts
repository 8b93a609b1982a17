import type { Caller } from './caller.ts';

/** The caller of a call; or why it is not known, and whether a later try may succeed. */
export type CallerIdentity =
  | { readonly ok: true; readonly caller: Caller }
  | { readonly ok: false; readonly fault: IdentityFault; readonly reason: string };

/**
 * `unauthenticated`: nothing proves who the caller is. `unavailable`: the proof cannot be checked
 * now. `exhausted`: too many proofs are being checked, or too many of this client were refused.
 */
export type IdentityFault = 'unauthenticated' | 'unavailable' | 'exhausted';

/** Returns the identity of a call without an authenticated caller. Pure. */
export const unauthenticated = (reason: string): CallerIdentity => ({
  ok: false,
  fault: 'unauthenticated',
  reason,
});
