import type { Environment } from '../../environment/environment.ts';

/** The place of a provider's service. `several`: no namespace is named, and several have it. */
export type ProviderPlace =
  | { readonly type: 'there' | 'missing' }
  | { readonly type: 'several'; readonly namespaces: readonly string[] };

/**
 * Finds the service of a provider of the MeshConfig, in the namespace that is named, or else in the
 * only one that has it. Pure.
 *
 * @param namespace '' if none is named
 */
export function placeOfProvider(
  { services }: Pick<Environment, 'services'>,
  host: string,
  namespace: string,
): ProviderPlace {
  const namespaces = new Set((services.get(host) ?? []).map((service) => service.namespace));
  if (namespace !== '') return { type: namespaces.has(namespace) ? 'there' : 'missing' };
  if (namespaces.size > 1) return { type: 'several', namespaces: [...namespaces].sort() };
  return { type: namespaces.size === 1 ? 'there' : 'missing' };
}
