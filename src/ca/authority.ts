import type { Observable } from 'rxjs';

/** What an authority answers: the chain, PEM, the leaf first and the root last; or why not, and whether the same may go well in a moment. */
export type Signed =
  { readonly ok: true; readonly chain: readonly string[] } | { readonly ok: false; readonly reason: string; readonly isFleeting: boolean };

/** A certificate authority of whatever protocol. */
export interface Authority {
  /** Where it is, for a person. */
  readonly name: string;
  /**
   * Asks once for a certificate that is valid for `ttl` ms. Emits one answer and completes, in bounded time. Never errors.
   *
   * @param token of the workload; empty where a client certificate stands for it
   */
  sign(csr: string, token: string, ttl: number): Observable<Signed>;
}
