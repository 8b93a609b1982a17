import type { Resource } from '../istio/model.ts';
import type { Labels } from '../istio/values.ts';
import { ofKind, type Resources } from './resources.ts';
import { ownMember } from '../../shared/text/own-member.ts';

type Workload = Resource<'WorkloadEntry'>;

/** Whether labels have all that a selector asks for. */
export function selects(selector: Labels, labels: Labels): boolean {
  for (const name in selector) if (ownMember(labels, name) !== selector[name]) return false;
  return true;
}

/** The WorkloadEntries of a namespace that a selector selects, in no order. */
export type WorkloadsBySelector = (namespace: string, selector: Labels) => readonly Workload[];

/**
 * Finds WorkloadEntries by a label, so that a thousand selectors among a thousand entries are not a
 * million comparisons. What is made for it is made at the first question about a namespace.
 */
export function workloadsBySelector(resources: Resources): WorkloadsBySelector {
  const indices = new Map<string, ReadonlyMap<string, readonly Workload[]>>();
  return (namespace, selector) => {
    const workloads =
      ofKind(resources, 'WorkloadEntry').get(namespace) ?? new Map<string, Workload>();
    const [label] = Object.entries(selector);
    if (label === undefined) return [...workloads.values()];
    const index = indices.get(namespace) ?? byLabel(workloads.values());
    indices.set(namespace, index);
    return (index.get(label.join('=')) ?? []).filter(({ spec }) => selects(selector, spec.labels));
  };
}

function byLabel(workloads: Iterable<Workload>): ReadonlyMap<string, readonly Workload[]> {
  const index = new Map<string, Workload[]>();
  for (const workload of workloads) {
    for (const [name, value] of Object.entries(workload.spec.labels)) {
      const list = index.get(`${name}=${value}`);
      if (list === undefined) index.set(`${name}=${value}`, [workload]);
      else list.push(workload);
    }
  }
  return index;
}
