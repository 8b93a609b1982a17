import type { ProxyConfig } from './proxy-config.ts';

/** The port on which istiod wants to know who asks. */
const securedPort = ':15012';

/**
 * How the control plane is talked to: by its port it is `MUTUAL_TLS` whatever is said, as in the Go agent. Not so where certificates are mounted files, which may be
 * none of the mesh: there it has to be said. Pure.
 */
export function authPolicy(
  { controlPlaneAuthPolicy, discoveryAddress }: Pick<ProxyConfig, 'controlPlaneAuthPolicy' | 'discoveryAddress'>,
  fileMountedCerts: boolean,
): ProxyConfig['controlPlaneAuthPolicy'] {
  return discoveryAddress.endsWith(securedPort) && !fileMountedCerts ? 'MUTUAL_TLS' : controlPlaneAuthPolicy;
}
