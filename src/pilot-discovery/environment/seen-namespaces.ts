// Why: docs/decisions/097-namespaces-are-selected-in-the-store.md
import { isSelected, type LabelSelector } from '../istio/fields/label-selector.ts';
import type { Kind, ResourceKey } from '../istio/documents/model.ts';
import { namespaceKeyOf, partsOf, resourceAt, type Resources } from './resources.ts';

/** Everything that decides which namespaces are seen. */
export interface Selection {
  readonly selectors: readonly LabelSelector[];
  /** All Namespaces must be among the resources. */
  readonly resources: Resources;
}

/** Kinds without a namespace, or whose namespace is a setting. Selectors do not affect them. */
const unselectable: ReadonlySet<Kind> = new Set<Kind>([
  'Namespace',
  'Node',
  'ConsulService',
  'ConsulInstance',
]);

/** Returns whether namespaces are selected at all: without Namespaces, selectors have no effect. */
const isEffective = ({ selectors, resources }: Selection): boolean =>
  selectors.length > 0 && resources.has('Namespace');

/** Returns whether the resources of a namespace are used. */
function isSeen(selection: Selection, namespace: string): boolean {
  if (!isEffective(selection)) return true;
  const object = resourceAt(selection.resources, namespaceKeyOf(namespace));
  return (
    object !== undefined &&
    selection.selectors.some((selector) => isSelected(selector, object.labels))
  );
}

/** Returns whether the resource of a key is used. */
export function isUsed(selection: Selection, key: ResourceKey): boolean {
  if (!isEffective(selection)) return true;
  const { kind, namespace } = partsOf(key);
  return unselectable.has(kind) || isSeen(selection, namespace);
}

/**
 * Returns the namespaces that are seen after a change and were not before, and the opposite.
 *
 * @param changed the Namespaces that have changed
 * @param everywhere the namespaces of all resources; it is only read if any of them may differ
 */
export function turnedNamespaces(
  before: Selection,
  after: Selection,
  changed: readonly string[],
  everywhere: () => Iterable<string>,
): readonly string[] {
  const isSame =
    JSON.stringify(before.selectors) === JSON.stringify(after.selectors) &&
    isEffective(before) === isEffective(after);
  const candidates = isSame ? changed : new Set(everywhere());
  return [...candidates].filter((name) => isSeen(before, name) !== isSeen(after, name));
}

/** Yields the keys of the selectable resources of a namespace. */
export function* keysIn(resources: Resources, namespace: string): Generator<ResourceKey> {
  for (const [kind, namespaces] of resources)
    if (!unselectable.has(kind))
      for (const name of namespaces.get(namespace)?.keys() ?? [])
        yield `${kind}/${namespace}/${name}`;
}

/** Yields the namespaces of resources. One of them may come several times. */
export function* namespacesOf(resources: Resources): Generator<string> {
  for (const namespaces of resources.values()) yield* namespaces.keys();
}
