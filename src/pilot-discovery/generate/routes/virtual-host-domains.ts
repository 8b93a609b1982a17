import { isIPv6 } from 'node:net';

/** Returns a host as a domain of a virtual host. */
export const domainOf = (host: string): string => (isIPv6(host) ? `[${host}]` : host);

/** Returns the name of a virtual host. */
export const virtualHostName = (host: string, port: number): string => `${domainOf(host)}:${port}`;

/**
 * Returns shorter names by which a proxy of a domain may call a host of the same domain. In
 * Kubernetes (`default.svc.cluster.local`) these are `reviews.NAMESPACE`, and `reviews` within the
 * namespace. Elsewhere it is the host without the suffix that it shares with the domain.
 */
export function shortNames(host: string, proxyDomain: string): string[] {
  const names = proxyDomain.includes(inCluster)
    ? namesInCluster(host, proxyDomain)
    : namesBeside(host, proxyDomain);
  // A short name of `*` would match every host.
  return names.filter((name) => name !== '*' && name !== host);
}

const inCluster = '.svc.';

function namesInCluster(host: string, proxyDomain: string): readonly string[] {
  const [atHost, atDomain] = [host.indexOf(inCluster), proxyDomain.indexOf(inCluster)];
  if (atHost <= 0 || host.slice(atHost) !== proxyDomain.slice(atDomain)) return [];
  const short = host.slice(0, atHost);
  const dot = short.indexOf('.');
  if (dot < 0) return [];
  const isNear = short.slice(dot + 1) === proxyDomain.slice(0, atDomain);
  return isNear ? [short.slice(0, dot), `${short}.svc`, short] : [short, `${short}.svc`];
}

function namesBeside(host: string, proxyDomain: string): readonly string[] {
  const [labels, ofDomain] = [host.split('.').reverse(), proxyDomain.split('.').reverse()];
  const first = labels.findIndex((label, index) => label !== ofDomain[index]);
  if (first <= 0) return []; // the whole host is the domain, or nothing is shared
  const ownLabels = labels.slice(first).reverse();
  const name = ownLabels.join('.');
  return ownLabels.length === 2 ? [name, `${name}.${labels[first - 1] ?? ''}`] : [name];
}
