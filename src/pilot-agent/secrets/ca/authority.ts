import { basename, dirname, join } from 'node:path';
import type { Observable } from 'rxjs';
import { caFiles } from '../../config/certificate-files.ts';
import { parseHostPort } from '../../../shared/text/host-port.ts';

/**
 * How a request failed. `refused`: an early retry will fail too; `fleeting`: a retry may succeed;
 * `away`: no connection was made.
 */
export type IssueFailure = 'refused' | 'fleeting' | 'away';

/**
 * An authority's answer: the chain in PEM, the leaf first and the root last; or why there is none.
 */
export type Signed =
  | { readonly ok: true; readonly chain: readonly string[] }
  | { readonly ok: false; readonly reason: string; readonly failure: IssueFailure };

/** A certificate authority, whatever its protocol. */
export interface Authority {
  /** Its address, for a person. */
  readonly name: string;
  /**
   * Requests a certificate that is valid for `ttl` ms. Emits one answer and completes, in bounded
   * time. Never errors.
   *
   * @param token the token of the workload; empty if a client certificate replaces it
   */
  sign(csr: string, token: string, ttl: number): Observable<Signed>;
  /**
   * Emits once a connection is made, and completes. Tries every few seconds. Cold; never errors.
   */
  readonly reached$: Observable<unknown>;
}

/** How to reach an authority. */
export interface AuthorityAddress {
  /** `host:port`. */
  readonly address: string;
  /**
   * The file of the roots that vouch for it; `system` for the roots of Node; undefined for a
   * connection without TLS.
   */
  readonly roots: string | undefined;
  /** The name that its certificate must carry, if that is not its host. */
  readonly serverName: string | undefined;
}

/**
 * Returns how to reach the authority at `address`, by the rules of the Go agent 1.6. `provider`
 * (`PILOT_CERT_PROVIDER`) selects the roots that vouch for it. Undefined for an unknown provider.
 * Pure.
 *
 * @param provisioned `PROV_CERT`, whose root replaces istiod's; empty for none
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
