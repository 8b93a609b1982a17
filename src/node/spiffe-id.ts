/** Whom a SPIFFE id names: an account of a namespace; without a namespace the identity as it is. */
export interface SpiffeName {
  readonly namespace: string;
  readonly identity: string;
}

/**
 * `spiffe://<trust domain>/ns/<namespace>/sa/<account>`, or `spiffe://<trust domain>/<identity>` without a namespace; empty without an identity. An
 * empty trust domain stays empty, as in the Go agent: with Consul it is the rule. Pure.
 */
export function spiffeId(trustDomain: string, { namespace, identity }: SpiffeName): string {
  if (identity === '') return '';
  return `spiffe://${trustDomain}/${namespace === '' ? identity : `ns/${namespace}/sa/${identity}`}`;
}
