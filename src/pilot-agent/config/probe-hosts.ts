import { isIpAddress } from '../../shared/text/host-port.ts';

/**
 * Where a probe goes that names no host: to localhost and then to the address of the pod, as long
 * as nobody has said; to localhost alone; to the pod's address, where the kubelet itself would
 * probe, and then to localhost.
 */
export type ProbeDestination = 'localhost first' | 'localhost' | 'pod first';

/** What `REWRITE_PROBE_LEGACY_LOCALHOST_DESTINATION` means. Pure. */
export function probeDestination(legacy: boolean | undefined): ProbeDestination {
  return legacy === undefined ? 'localhost first' : legacy ? 'localhost' : 'pod first';
}

/** The hosts that such a probe tries, in their order. Pure. */
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
