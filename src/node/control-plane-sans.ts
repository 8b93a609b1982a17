import { accountSan } from './account-san.ts';
import type { ControlPlane } from './control-plane.ts';
import { discoveryHost } from './discovery-host.ts';
import { isIpAddress } from './is-ip-address.ts';
import type { SubjectAltName } from './subject-alt-name.ts';

/**
 * The names of which a control plane's certificate has to carry one; none without MUTUAL_TLS.
 *
 * istiod carries the DNS name by which it is asked, or `istiod.istio-system.svc` where it is asked by way of localhost; the pilot of Istio 1.1–1.5
 * carries the SPIFFE id of its account, or that of `pilotIdentity`. An address is no name: then the SPIFFE id alone is left. Pure.
 */
export function controlPlaneSans(controlPlane: ControlPlane, pilotIdentity: string): readonly SubjectAltName[] {
  if (controlPlane.controlPlaneAuthPolicy !== 'MUTUAL_TLS') return [];
  const host = discoveryHost(controlPlane.discoveryAddress);
  const pilot = accountSan(controlPlane, 'istio-pilot-service-account', pilotIdentity);
  if (isIpAddress(host)) return [pilot];
  return [{ type: 'DNS', value: host === 'localhost' ? 'istiod.istio-system.svc' : host }, pilot];
}
