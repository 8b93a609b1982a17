// Why: docs/decisions/092-a-provider-is-used-if-its-service-is-visible.md
import type { Environment } from '../../environment/environment.ts';
import type { ExtensionProvider } from '../../istio/telemetry/extension-provider.ts';
import type { ProviderAddress } from '../../istio/fields/provider-address.ts';
import { outboundName } from './cluster-name.ts';
import { placeOfProvider } from './provider-place.ts';
import { outboundScope } from './outbound-scope.ts';
import type { ProxyNode } from './proxy-node.ts';

/** The host of a provider, and the cluster by which a proxy reaches it. */
export interface ProviderCluster {
  readonly host: string;
  readonly cluster: string;
}

/**
 * Returns the cluster of a provider; undefined if the proxy has no cluster for its service, or the
 * service lacks the port: Envoy would refuse a listener that names it. A host without a namespace
 * must be in exactly one namespace.
 */
export function clusterOfProvider(
  environment: Environment,
  node: ProxyNode,
  { service, port }: ProviderAddress,
): ProviderCluster | undefined {
  const [host = '', namespace = ''] = service.split('/').reverse();
  if (placeOfProvider(environment, host, namespace).type !== 'there') return undefined;
  const visibleService = outboundScope(environment, node).services.get(host);
  return visibleService?.ports.some(({ number }) => number === port) === true
    ? { host, cluster: outboundName({ port, subset: '', host }) }
    : undefined;
}

const servicesOf = (provider: ExtensionProvider): readonly ProviderAddress[] =>
  'at' in provider ? [provider.at] : [];

/** Returns the clusters of all providers of the mesh that a proxy reaches, in their order. */
export const clustersOfProviders = (environment: Environment, node: ProxyNode): readonly string[] =>
  environment.mesh.providers
    .flatMap(servicesOf)
    .flatMap((service) => clusterOfProvider(environment, node, service)?.cluster ?? []);
