import type { ControlPlane } from './control-plane.ts';
import { controlPlaneNamespace } from './control-plane-namespace.ts';
import { spiffeId } from './spiffe-id.ts';
import type { SubjectAltName } from './subject-alt-name.ts';

/** The SPIFFE id of an account of the control plane; of `identity` instead, if that is not empty. Pure. */
export function accountSan(controlPlane: ControlPlane, account: string, identity: string): SubjectAltName {
  const namespace = identity === '' ? controlPlaneNamespace(controlPlane) : '';
  return { type: 'URI', value: spiffeId(controlPlane.trustDomain, { namespace, identity: identity === '' ? account : identity }) };
}
