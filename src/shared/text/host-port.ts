import { isIPv4, isIPv6 } from 'node:net';

/** What a host is: an IP address, or something else, which is taken for a name. */
type HostKind = 'ipv4' | 'ipv6' | 'name';

/** The parts of `host:port`. They may be empty. */
export interface HostPort {
  /** Without brackets. */
  readonly host: string;
  readonly kind: HostKind;
  /** The host is in brackets, as an IPv6 address has to be where a port follows. */
  readonly isBracketed: boolean;
  /** As it is written; undefined where there is none. */
  readonly port: string | undefined;
}

/**
 * Takes `host:port`, `[host]:port`, or a host alone apart, at the last colon that is not in
 * brackets. What the parts have to be is the caller's rule. Undefined for a text with brackets
 * elsewhere. Pure.
 */
export function parseHostPort(text: string): HostPort | undefined {
  const [, bracketed, plain, port] =
    /^(?:\[([^[\]]*)\]|([^[\]]*?))(?::([^:[\]]*))?$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  return host === undefined
    ? undefined
    : { host, kind: hostKind(host), isBracketed: bracketed !== undefined, port };
}

/** What a host is. Pure. */
export function hostKind(host: string): HostKind {
  if (isIPv4(host)) return 'ipv4';
  // Without a colon it is not asked: Node 20 takes some ms to find that a name is no IPv6 address.
  return host.includes(':') && isIPv6(host) ? 'ipv6' : 'name';
}

/** Whether a text is an IP address. Pure. */
export function isIpAddress(text: string): boolean {
  return hostKind(text) !== 'name';
}

/** The number of a port, 1 to 65535; undefined for any other text. Pure. */
export function portNumber(text = ''): number | undefined {
  const port = Number(text);
  return /^\d{1,5}$/.test(text) && port >= 1 && port <= 65_535 ? port : undefined;
}
