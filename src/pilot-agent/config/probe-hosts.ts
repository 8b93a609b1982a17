import { isIpAddress } from '../../shared/text/host-port.ts';

/**
 * The destination of a probe that names no host. By default a probe tries localhost, then the
 * address of the pod. `localhost`: only localhost. `pod first`: the address of the pod, which the
 * kubelet itself would probe, then localhost.
 */
export type ProbeDestination = 'localhost first' | 'localhost' | 'pod first';

/** Returns the meaning of `REWRITE_PROBE_LEGACY_LOCALHOST_DESTINATION`. Pure. */
export function probeDestination(legacy: boolean | undefined): ProbeDestination {
  return legacy === undefined ? 'localhost first' : legacy ? 'localhost' : 'pod first';
}

/** Returns the hosts that such a probe tries, in order. Pure. */
export function probeHosts(destination: ProbeDestination, instanceIp: string): readonly string[] {
  const pod = isIpAddress(instanceIp) ? [instanceIp] : [];
  switch (destination) {
    case 'localhost first':
      return ['localhost', ...pod];
    case 'localhost':
      return ['localhost'];
    case 'pod first':
      return [...pod, 'localhost'];
  }
}
