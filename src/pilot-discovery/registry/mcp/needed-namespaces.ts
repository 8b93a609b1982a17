import type { SentObjects } from './read-answer.ts';

/**
 * Returns the namespaces that are needed for proxies of some namespaces: these, and those that
 * their Sidecars name. Empty for all: if none is given, or if a Sidecar names any namespace. Pure.
 */
export function neededNamespaces(
  given: readonly string[],
  sidecars: SentObjects,
): readonly string[] {
  if (given.length === 0) return [];
  const sidecarNamespaces = [...sidecars.values()].flatMap(({ content }) =>
    content.resources.flatMap((resource) =>
      resource.kind === 'Sidecar' && given.includes(resource.namespace)
        ? resource.spec.egress.flatMap(({ hosts }) => hosts.map(({ namespace }) => namespace))
        : [],
    ),
  );
  if (sidecarNamespaces.includes('*')) return [];
  const others = sidecarNamespaces.filter(
    (name) => name !== '.' && name !== '~' && !given.includes(name),
  );
  return [...given, ...[...new Set(others)].sort()];
}
