import type { Selector } from './values.ts';

/** https://istio.io/v1.26/docs/reference/config/security/peer_authentication/ */
export interface PeerAuthentication {
  readonly selector: Selector;
  readonly mode: MutualTlsMode;
  /** By number of the port of the workload. */
  readonly portLevel: ReadonlyMap<number, MutualTlsMode>;
}

/**
 * `unset`: that of the next level up. `closed`: what is written is wrong and was never right, so
 * nobody may connect.
 */
export type MutualTlsMode = 'unset' | 'disable' | 'permissive' | 'strict' | 'closed';
