/** What the name of a cluster for calls says. */
interface OutboundName {
  readonly port: number;
  /** '' for the whole. */
  readonly subset: string;
  readonly host: string;
}

/** `outbound|80|v1|reviews.default.svc.cluster.local` */
export const outboundName = ({ port, subset, host }: OutboundName): string =>
  `outbound|${port}|${subset}|${host}`;

/** The name by which TLS asks for the cluster; without what a name of DNS may not have. */
export const outboundSni = ({ port, subset, host }: OutboundName): string =>
  `outbound_.${port}_.${subset}_.${host}`;

/** `inbound|8080||` */
export const inboundName = (port: number): string => `inbound|${port}||`;

/** The host of a cluster for calls, by its name; '' where the name is of none. */
export const hostOfCluster = (name: string): string => name.split('|')[3] ?? '';
