import { isIPv4, isIPv6 } from 'node:net';

/** Whether a text is a proxy address of Istio: a DNS-1123 name or an IP address (IPv6 in brackets), and a port from 1 to 65535. */
export function isProxyAddress(text: string): boolean {
  const [, ipv6, name = '', digits] = /^(?:\[([^\]%]*)\]|([^:]*)):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  return port >= 1 && port <= 65_535 && (ipv6 === undefined ? isIPv4(name) || isDnsName(name) : isIPv6(ipv6));
}

/** As Istio counts: a dot may end it, and its last label is more than a number, else it is an IP address gone wrong. */
function isDnsName(text: string): boolean {
  const labels = text.replace(/\.$/, '').split('.');
  return (
    text.length <= 255 &&
    labels.every((label) => label.length <= 63 && /^[a-z\d](?:[a-z\d-]*[a-z\d])?$/i.test(label)) &&
    !/^\d+$/.test(labels.at(-1) ?? '')
  );
}
