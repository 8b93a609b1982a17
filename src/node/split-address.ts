/** An address without its port; or what is wrong with it. */
export type SplitAddress =
  { readonly ok: true; readonly host: string; readonly port: string } | { readonly ok: false; readonly reason: string };

/** Splits `host:port` or `[host]:port`; an IPv6 address has to be in brackets. The parts may be empty, and are not looked into. Pure. */
export function splitAddress(address: string): SplitAddress {
  if (address === '') return { ok: false, reason: 'no address specified' };
  const [, bracketed, plain, port] = /^(?:\[([^[\]]*)\]|([^[\]]*)):([^:[\]]*)$/.exec(address) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || port === undefined) return { ok: false, reason: `'${address}' is not host:port: the port is missing` };
  if (plain?.includes(':') === true) return { ok: false, reason: `'${address}' has too many colons: an IPv6 address goes in brackets` };
  return { ok: true, host, port };
}
