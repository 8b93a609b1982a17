import { isIPv6 } from 'node:net';

/** A host as a domain of a virtual host has it. */
export const domainOf = (host: string): string => (isIPv6(host) ? `[${host}]` : host);

/** The name of a virtual host. */
export const virtualHostName = (host: string, port: number): string => `${domainOf(host)}:${port}`;

/**
 * Shorter names by which a proxy of a domain may call a host of Kubernetes: `reviews.NAMESPACE`,
 * and `reviews` within the namespace.
 */
export function shortNames(host: string, proxyDomain: string): string[] {
  const inCluster = host.indexOf('.svc.');
  if (inCluster <= 0 || !proxyDomain.includes('.svc.')) return [];
  const short = host.slice(0, inCluster);
  const dot = short.indexOf('.');
  if (dot < 0) return [];
  const namespace = proxyDomain.slice(0, proxyDomain.indexOf('.svc.'));
  return short.slice(dot + 1) === namespace ? [short.slice(0, dot), `${short}.svc`, short] : [short, `${short}.svc`];
}
