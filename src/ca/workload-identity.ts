import { decodeJwt } from 'jose';

/** Who the bearer of a token is to the mesh: its SPIFFE URI; undefined where the token is none of a Kubernetes service account. Pure. */
export function workloadIdentity(token: string, trustDomain: string): string | undefined {
  try {
    const [, namespace, account] = /^system:serviceaccount:([^:/]+):([^:/]+)$/.exec(decodeJwt(token).sub ?? '') ?? [];
    return namespace === undefined || account === undefined ? undefined : `spiffe://${trustDomain}/ns/${namespace}/sa/${account}`;
  } catch {
    return undefined;
  }
}
