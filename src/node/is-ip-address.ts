import { isIPv4, isIPv6 } from 'node:net';

/** Whether a text is an IP address. As `isIP` of Node, which takes some ms of a start to find that a name is no IPv6 address (Node 20). Pure. */
export function isIpAddress(text: string): boolean {
  return isIPv4(text) || (text.includes(':') && isIPv6(text));
}
