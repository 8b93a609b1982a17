import { basename, dirname, join } from 'node:path';
import type { Observable } from 'rxjs';
import { caFiles } from '../../config/certificate-files.ts';
import { parseHostPort } from '../../../shared/text/host-port.ts';

/**
 * How a request has failed. `refused`: it will be so in a moment too; `fleeting`: it may go well in
 * a moment; `away`: no connection has come about.
 */
export type IssueFailure = 'refused' | 'fleeting' | 'away';

/**
 * What an authority answers: the chain, PEM, the leaf first and the root last; or why not.
 */
export type Signed =
  | { readonly ok: true; readonly chain: readonly string[] }
  | { readonly ok: false; readonly reason: string; readonly failure: IssueFailure };

/** A certificate authority of whatever protocol. */
export interface Authority {
  /** Where it is, for a person. */
  readonly name: string;
  /**
   * Asks once for a certificate that is valid for `ttl` ms. Emits one answer and completes, in
   * bounded time. Never errors.
   *
   * @param token of the workload; empty where a client certificate stands for it
   */
  sign(csr: string, token: string, ttl: number): Observable<Signed>;
  /**
   * Emits once as soon as a connection to it comes about, which is tried every few seconds, and
   * completes. Cold; never errors.
   */
  readonly reached$: Observable<unknown>;
}

/** How an authority is reached. */
export interface AuthorityAddress {
  /** `host:port`. */
  readonly address: string;
  /**
   * The file of the roots that vouch for it; `system` for those of the machine; undefined for a
   * connection without TLS.
   */
  readonly roots: string | undefined;
  /** The name that its certificate is to be for, where that is not its host. */
  readonly serverName: string | undefined;
}

/**
 * How the authority at `address` is reached, by the rules of the Go agent 1.6. `provider`
 * (`PILOT_CERT_PROVIDER`) says who vouches for it. Undefined for an unknown provider. Pure.
 *
 * @param provisioned `PROV_CERT`, whose root takes the place of istiod's; empty for none
 */
export function authorityAddress(
  address: string,
  provider: string,
  provisioned: string,
): AuthorityAddress | undefined {
  const istiod = join(
    provisioned === '' ? dirname(caFiles.istiod) : provisioned,
    basename(caFiles.istiod),
  );
  const roots = new Map(Object.entries({ ...caFiles, istiod, system: 'system' })).get(provider);
  if (roots === undefined) return undefined;
  const host = parseHostPort(address)?.host ?? address;
  const serverName = host.includes('citadel')
    ? 'istio-citadel'
    : host.includes('localhost')
      ? 'istiod.istio-system.svc'
      : undefined;
  return { address, roots: address.endsWith(':15010') ? undefined : roots, serverName };
}
