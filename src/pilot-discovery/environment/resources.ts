import {
  type AnyResource,
  type Kind,
  keyOf,
  type Resource,
  type ResourceKey,
} from '../istio/model.ts';

/** Kind → namespace → name → resource. Immutable; none of the maps is empty. */
export type Resources = ReadonlyMap<Kind, ReadonlyMap<string, ReadonlyMap<string, AnyResource>>>;

export const noResources: Resources = new Map();

/** What there is of a kind: namespace → name → resource. */
export function ofKind<K extends Kind>(
  resources: Resources,
  kind: K,
): ReadonlyMap<string, ReadonlyMap<string, Resource<K>>> {
  return (resources.get(kind) ?? new Map()) as ReadonlyMap<
    string,
    ReadonlyMap<string, Resource<K>>
  >;
}

/** What a key is made of. */
export function partsOf(key: ResourceKey): {
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
} {
  const [kind = '', namespace = '', ...name] = key.split('/');
  return { kind: kind as Kind, namespace, name: name.join('/') };
}

/** The resource of a key, undefined where there is none. */
export function resourceAt(resources: Resources, key: ResourceKey): AnyResource | undefined {
  const { kind, namespace, name } = partsOf(key);
  return resources.get(kind)?.get(namespace)?.get(name);
}

/** All of them, with their keys. */
export function* eachResource(
  resources: Resources,
): Generator<readonly [ResourceKey, AnyResource]> {
  for (const namespaces of resources.values()) {
    for (const names of namespaces.values())
      for (const resource of names.values()) yield [keyOf(resource), resource];
  }
}

/**
 * The resources with others in the place of some: undefined takes one away. Copies the maps on the
 * way to these, each once, and no other; the same object where nothing differs.
 */
export function withResources(
  resources: Resources,
  edits: ReadonlyMap<ResourceKey, AnyResource | undefined>,
): Resources {
  const kinds = new Map(resources);
  const copied = new Set<unknown>();
  const own = <K, V>(parent: Map<K, ReadonlyMap<string, V>>, key: K): Map<string, V> => {
    const found = parent.get(key);
    if (found !== undefined && copied.has(found)) return found as Map<string, V>;
    const copy = new Map(found);
    copied.add(copy);
    parent.set(key, copy);
    return copy;
  };
  let isSame = true;
  for (const [key, resource] of edits) {
    if (resourceAt(kinds, key) === resource) continue;
    isSame = false;
    const { kind, namespace, name } = partsOf(key);
    const namespaces = own(kinds, kind);
    const names = own(namespaces, namespace);
    if (resource === undefined) names.delete(name);
    else names.set(name, resource);
    if (names.size === 0) namespaces.delete(namespace);
    if (namespaces.size === 0) kinds.delete(kind);
  }
  return isSame ? resources : kinds;
}
