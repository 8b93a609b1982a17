// Why: docs/decisions/041-no-client-uses-proxy-variables.md
import { BlockList, isIP } from 'node:net';

/** An HTTP proxy for servers outside of the pod, as configured. */
export interface OutsideProxy {
  /**
   * `http://host:port`, with name and password before the host if the proxy needs them; empty for
   * none.
   */
  readonly url: string;
  /**
   * The servers that are asked without the proxy: hosts, each with all names below it, addresses,
   * or ranges such as `10.0.0.0/8`. A host or an address may have a `:port`; `*` means everything.
   * One text may have several, separated by commas.
   */
  readonly except: readonly string[];
}

const loopback: readonly string[] = ['127.0.0.0/8', '::1', 'localhost'];

/** Whether a URL is asked through that proxy. This machine never is. Pure. */
export function isProxied(
  { protocol, hostname, port }: URL,
  { url, except }: OutsideProxy,
): boolean {
  const host = bare(hostname).replace(/\.$/, '');
  const effectivePort = port !== '' ? port : protocol === 'https:' ? '443' : '80';
  return (
    url !== '' &&
    ![...loopback, ...except.flatMap((entry) => entry.split(','))].some((entry) =>
      covers(entry.trim().toLowerCase(), host, effectivePort),
    )
  );
}

/** Returns an IPv6 address without its brackets. Pure. */
export function bare(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1');
}

function covers(entry: string, host: string, port: string): boolean {
  if (entry === '*') return true;
  if (entry.includes('/')) return isWithin(entry, host);
  const [, name = '', only = port] =
    isIP(entry) > 0 ? [entry, entry] : (/^(.*?)(?::(\d+))?$/.exec(entry) ?? []);
  const covered = bare(name).replace(/^\*?\.|\.$/g, '');
  if (only !== port || covered === '') return false;
  return isIP(covered) > 0
    ? isWithin(covered, host)
    : host === covered || host.endsWith(`.${covered}`);
}

/** Whether a host is that address, or an address in that range. */
function isWithin(range: string, host: string): boolean {
  const [address = '', digits] = range.split('/');
  const [versions, bits] = [[isIP(address), isIP(host)], isIP(address) === 4 ? 32 : 128];
  const length = digits === undefined ? bits : /^\d{1,3}$/.test(digits) ? Number(digits) : -1;
  if (versions.includes(0) || length < 0 || length > bits) return false;
  const list = new BlockList();
  list.addSubnet(address, length, versions[0] === 4 ? 'ipv4' : 'ipv6');
  return list.check(host, versions[1] === 4 ? 'ipv4' : 'ipv6');
}
