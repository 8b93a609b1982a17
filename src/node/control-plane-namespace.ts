import type { ControlPlane } from './control-plane.ts';
import { discoveryHost } from './discovery-host.ts';
import { isIpAddress } from './is-ip-address.ts';

/**
 * The namespace of the control plane, by how many names its host has: one, and it is the pod's own; two, and the second one is it; more, or an address, and it
 * is `ISTIO_NAMESPACE`. Empty outside of Kubernetes. Pure.
 */
export function controlPlaneNamespace({
  registry,
  discoveryAddress,
  podNamespace,
  istioNamespace,
}: Pick<ControlPlane, 'registry' | 'discoveryAddress' | 'podNamespace' | 'istioNamespace'>): string {
  if (registry !== 'Kubernetes') return '';
  const host = discoveryHost(discoveryAddress);
  const [, second, ...more] = host.split('.');
  if (isIpAddress(host) || more.length > 0) return istioNamespace === '' ? 'istio-system' : istioNamespace;
  return second ?? podNamespace;
}
