/** A workload that has proved who it is, by the parts of its SPIFFE ID. */
export interface Caller {
  readonly trustDomain: string;
  readonly namespace: string;
  readonly serviceAccount: string;
}

/** The name of a namespace, and of a service account, as Kubernetes has them. */
const [label, subdomain] = ['[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?', '[a-z0-9][a-z0-9.-]{0,252}'];
/** https://github.com/spiffe/spiffe/blob/main/standards/SPIFFE-ID.md#21-trust-domain */
const domainForm = '[a-z0-9._-]{1,255}';

const spiffe = new RegExp(`^spiffe://(${domainForm})/ns/(${label})/sa/(${subdomain})$`);
const account = new RegExp(`^system:serviceaccount:(${label}):(${subdomain})$`);

/** Returns the SPIFFE ID of a caller. Pure. */
export const spiffeOf = ({ trustDomain, namespace, serviceAccount }: Caller): string =>
  `spiffe://${trustDomain}/ns/${namespace}/sa/${serviceAccount}`;

/** Returns the caller with a SPIFFE ID; undefined if it does not have Istio's form. Pure. */
export function callerOfSpiffe(id: string): Caller | undefined {
  const [, domain, namespace, serviceAccount] = spiffe.exec(id) ?? [];
  return domain === undefined || namespace === undefined || serviceAccount === undefined
    ? undefined
    : { trustDomain: domain, namespace, serviceAccount };
}

/**
 * Returns the caller with a name that Kubernetes gives a service account, as in `sub` of a token;
 * undefined if the name does not have that form. Pure.
 */
export function callerOfAccount(name: string, trustDomain: string): Caller | undefined {
  const [, namespace, serviceAccount] = account.exec(name) ?? [];
  return namespace === undefined || serviceAccount === undefined
    ? undefined
    : { trustDomain, namespace, serviceAccount };
}
