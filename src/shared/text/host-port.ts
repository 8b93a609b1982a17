import { isIPv4, isIPv6 } from 'node:net';

/** The kind of a host: an IP address, or else a name. */
type HostKind = 'ipv4' | 'ipv6' | 'name';

/** The parts of `host:port`. They may be empty. */
export interface HostPort {
  /** Without brackets. */
  readonly host: string;
  readonly kind: HostKind;
  /** The host is in brackets, as an IPv6 address must be if a port follows. */
  readonly isBracketed: boolean;
  /** The port as it is written; undefined if there is none. */
  readonly port: string | undefined;
}

/**
 * Splits `host:port`, `[host]:port`, or a host alone, at the last colon that is not in brackets.
 * The caller decides which parts are valid. Undefined for a text with brackets elsewhere. Pure.
 */
export function parseHostPort(text: string): HostPort | undefined {
  const [, bracketed, plain, port] =
    /^(?:\[([^[\]]*)\]|([^[\]]*?))(?::([^:[\]]*))?$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  return host === undefined
    ? undefined
    : { host, kind: hostKind(host), isBracketed: bracketed !== undefined, port };
}

/** Returns the kind of a host. Pure. */
export function hostKind(host: string): HostKind {
  if (isIPv4(host)) return 'ipv4';
  // Without a colon isIPv6 is not called: Node 20 takes some ms to find that a name is not an IPv6
  // address.
  return host.includes(':') && isIPv6(host) ? 'ipv6' : 'name';
}

/** Whether a text is an IP address. Pure. */
export function isIpAddress(text: string): boolean {
  return hostKind(text) !== 'name';
}

/** Returns the number of a port, 1 to 65535; undefined for any other text. Pure. */
export function portNumber(text = ''): number | undefined {
  const port = Number(text);
  return /^\d{1,5}$/.test(text) && port >= 1 && port <= 65_535 ? port : undefined;
}
