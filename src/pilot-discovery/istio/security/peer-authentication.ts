import type { Selector } from '../fields/values.ts';

/** https://istio.io/v1.26/docs/reference/config/security/peer_authentication/ */
export interface PeerAuthentication {
  readonly selector: Selector;
  readonly mode: MutualTlsMode;
  /** By the number of the workload's port. */
  readonly portLevel: ReadonlyMap<number, MutualTlsMode>;
}

/**
 * `unset`: the mode of the next level up. `closed`: the setting is wrong and was never valid, so
 * nobody may connect.
 */
export type MutualTlsMode = 'unset' | 'disable' | 'permissive' | 'strict' | 'closed';
