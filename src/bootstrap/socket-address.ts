/** Envoy's `socket_address`. */
export interface SocketAddress {
  readonly address: string;
  readonly port_value: number;
}

/** What `host:port` says, an IPv6 host in brackets; undefined if it does not say both. (The Go agent takes a missing port.) Pure. */
export function socketAddress(text: string): SocketAddress | undefined {
  const [, v6, host, digits] = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/s.exec(text) ?? [];
  const address = v6 ?? host;
  const port = Number(digits);
  return address === undefined || port < 1 || port > 65_535 ? undefined : { address, port_value: port };
}
