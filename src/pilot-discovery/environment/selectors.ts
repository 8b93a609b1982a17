import type { Kind, Resource } from '../istio/documents/model.ts';
import type { Labels, Selector } from '../istio/fields/values.ts';
import { ownMember } from '../../shared/text/own-member.ts';
import { byAge } from './age.ts';
import { entriesBy, type Index, reindexed } from './grouped.ts';
import type { Touched } from './touched.ts';

/** Returns whether labels have everything that a selector requires. */
function selects(selector: Labels, labels: Labels): boolean {
  for (const name in selector) if (ownMember(labels, name) !== selector[name]) return false;
  return true;
}

/**
 * Returns the index of workloads after changes. The entries of a workload are `all` with its
 * namespace, and `labelled` with its namespace and each label and value. `others` returns more
 * entries.
 */
export function byLabelAfter<K extends Kind>(
  before: Index<Resource<K>>,
  touched: readonly Touched<K>[],
  labelsOf: (resource: Resource<K>) => Labels,
  others: (resource: Resource<K>) => readonly (readonly string[])[],
): Index<Resource<K>> {
  return reindexed(before, touched, (resource) => [
    ['all', resource.namespace],
    ...Object.entries(labelsOf(resource)).map((label) => [
      'labelled',
      resource.namespace,
      ...label,
    ]),
    ...others(resource),
  ]);
}

/**
 * Returns the index of resources that select workloads, after changes: each has an entry for one
 * label of its selector.
 */
export function bySelectorAfter<K extends Kind>(
  before: Index<Resource<K>>,
  touched: readonly Touched<K>[],
  selectorOf: (resource: Resource<K>) => Selector,
): Index<Resource<K>> {
  return reindexed(before, touched, (resource) => {
    const selector = selectorOf(resource);
    return selector === undefined ? [] : [[resource.namespace, ...firstOf(selector)]];
  });
}

/** Returns the workloads of a namespace that a selector selects, oldest first. */
export function selectedBy<K extends Kind>(
  workloads: Index<Resource<K>>,
  labelsOf: (resource: Resource<K>) => Labels,
  namespace: string,
  selector: Labels,
): readonly Resource<K>[] {
  const [name, ...value] = firstOf(selector);
  const candidates =
    name === ''
      ? [...entriesBy(workloads, 'all', namespace)]
      : [...entriesBy(workloads, 'labelled', namespace, name, ...value)];
  return candidates.filter((workload) => selects(selector, labelsOf(workload))).sort(byAge);
}

/** Yields the resources of a namespace that select a workload with these labels. */
export function* selecting<K extends Kind>(
  selectors: Index<Resource<K>>,
  selectorOf: (resource: Resource<K>) => Selector,
  namespace: string,
  labels: Labels,
): Generator<Resource<K>, undefined> {
  for (const label of [...Object.entries(labels), firstOf({})])
    for (const resource of entriesBy(selectors, namespace, ...label))
      if (selects(selectorOf(resource) ?? {}, labels)) yield resource;
}

/**
 * Returns the label by which a selector is indexed; its name is empty if the selector selects all.
 */
const firstOf = (selector: Labels): readonly [string, string] =>
  Object.entries(selector)[0] ?? ['', ''];
