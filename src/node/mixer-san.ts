import { accountSan } from './account-san.ts';
import type { ControlPlane } from './control-plane.ts';
import type { SubjectAltName } from './subject-alt-name.ts';

/** The name in the certificate of Mixer (Istio 1.1–1.5): its account's SPIFFE id, or that of `mixerIdentity`; none without MUTUAL_TLS. Pure. */
export function mixerSan(controlPlane: ControlPlane, mixerIdentity: string): readonly SubjectAltName[] {
  if (controlPlane.controlPlaneAuthPolicy !== 'MUTUAL_TLS') return [];
  return [accountSan(controlPlane, 'istio-mixer-service-account', mixerIdentity)];
}
