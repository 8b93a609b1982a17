import { SortedMap } from '../../shared/maps/sorted-map.ts';
import {
  type AnyResource,
  type Kind,
  keyOf,
  type Resource,
  type ResourceKey,
} from '../istio/documents/model.ts';

/** Kind → namespace → name → resource. Immutable; none of the maps is empty. */
export type Resources = ReadonlyMap<Kind, SortedMap<SortedMap<AnyResource>>>;

export const noResources: Resources = new Map();

/** Returns the resources of a kind: namespace → name → resource. */
export function ofKind<K extends Kind>(
  resources: Resources,
  kind: K,
): ReadonlyMap<string, ReadonlyMap<string, Resource<K>>> {
  return (resources.get(kind) ?? new Map()) as ReadonlyMap<
    string,
    ReadonlyMap<string, Resource<K>>
  >;
}

/** Yields the resources of a kind. */
export function* eachOf<K extends Kind>(
  resources: Resources,
  kind: K,
): Generator<Resource<K>, undefined> {
  for (const names of ofKind(resources, kind).values()) yield* names.values();
}

/** Returns the parts of a key. */
export function partsOf(key: ResourceKey): {
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
} {
  const kindEnd = key.indexOf('/');
  const namespaceEnd = key.indexOf('/', kindEnd + 1);
  return {
    kind: key.slice(0, kindEnd) as Kind,
    namespace: key.slice(kindEnd + 1, namespaceEnd),
    name: key.slice(namespaceEnd + 1),
  };
}

/** Returns the resource of a key; undefined if there is none. */
export function resourceAt(resources: Resources, key: ResourceKey): AnyResource | undefined {
  const { kind, namespace, name } = partsOf(key);
  return resources.get(kind)?.get(namespace)?.get(name);
}

/** Returns the key of a Namespace. */
export const namespaceKeyOf = (name: string): ResourceKey =>
  keyOf({ kind: 'Namespace', namespace: '', name });

/** Yields all resources with their keys. */
export function* eachResource(
  resources: Resources,
): Generator<readonly [ResourceKey, AnyResource]> {
  for (const namespaces of resources.values()) {
    for (const names of namespaces.values())
      for (const resource of names.values()) yield [keyOf(resource), resource];
  }
}

/**
 * Replaces resources; undefined removes one. Maps without an edit stay the same objects, and so
 * does the whole if nothing differs.
 */
export function withResources(
  resources: Resources,
  edits: ReadonlyMap<ResourceKey, AnyResource | undefined>,
): Resources {
  const kinds = new Map<Kind, Map<string, Map<string, AnyResource | undefined>>>();
  for (const [key, resource] of edits) {
    const { kind, namespace, name } = partsOf(key);
    const namespaces = kinds.get(kind) ?? new Map<string, Map<string, AnyResource | undefined>>();
    const names = namespaces.get(namespace) ?? new Map<string, AnyResource | undefined>();
    kinds.set(kind, namespaces.set(namespace, names.set(name, resource)));
  }
  const after = new Map(resources);
  for (const [kind, namespaces] of kinds) {
    const before = resources.get(kind) ?? SortedMap.empty<SortedMap<AnyResource>>();
    const changed = before.with(
      [...namespaces].map(([namespace, names]) => {
        const resourcesByName = (before.get(namespace) ?? SortedMap.empty<AnyResource>()).with(
          names,
        );
        return [namespace, resourcesByName.size === 0 ? undefined : resourcesByName] as const;
      }),
    );
    if (changed.size === 0) after.delete(kind);
    else after.set(kind, changed);
  }
  const isSame =
    after.size === resources.size &&
    [...after].every(([kind, namespaces]) => resources.get(kind) === namespaces);
  return isSame ? resources : after;
}
