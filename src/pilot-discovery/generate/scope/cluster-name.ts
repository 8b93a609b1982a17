/** The parts of the name of an outbound cluster. */
interface OutboundName {
  readonly port: number;
  /** '' for the whole service. */
  readonly subset: string;
  readonly host: string;
}

/** Returns a name such as `outbound|80|v1|reviews.default.svc.cluster.local`. */
export const outboundName = ({ port, subset, host }: OutboundName): string =>
  `outbound|${port}|${subset}|${host}`;

/**
 * Returns the server name (SNI) of a cluster, without characters that a DNS name may not have. A
 * gateway that passes connections on by their server names has a cluster of this name.
 */
export const outboundSni = ({ port, subset, host }: OutboundName): string =>
  `outbound_.${port}_.${subset}_.${host}`;

/** Returns a name such as `inbound|8080||`. */
export const inboundName = (port: number): string => `inbound|${port}||`;

/** Returns the host of an outbound cluster from its name or server name; '' for other names. */
export const hostOfCluster = (name: string): string =>
  name.startsWith('outbound_.') ? name.split('_.').slice(3).join('_.') : (name.split('|')[3] ?? '');
