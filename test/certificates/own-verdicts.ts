import { setFlaws } from '../../src/pilot-agent/secrets/certificates.ts';
import { keyPairFlaw } from '../../src/shared/certificates/key-pair-flaw.ts';
import type { Way } from './deviations.ts';
import type { KindVerdict } from './envoy-verdicts.ts';
import type { CertificateKind } from './kinds.ts';

/**
 * Returns the verdict of the agent about a kind; empty if it accepts it. Before a restart the agent
 * checks only pairs.
 */
export function ownVerdict(
  { chain, key, roots }: CertificateKind,
  now: number,
): Readonly<Record<Way, KindVerdict>> {
  const pushed = setFlaws({ pair: { chain: chain.toString(), key }, roots: roots.toString() }, now);
  return {
    restart: { pair: keyPairFlaw(chain.toString(), key, now) ?? '', roots: '' },
    push: { pair: pushed.pair ?? '', roots: pushed.roots ?? '' },
  };
}
