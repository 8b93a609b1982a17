import type { Resource } from '../istio/model.ts';
import type { Labels } from '../istio/values.ts';
import { ownMember } from '../../shared/text/own-member.ts';
import type { Environment } from './environment.ts';
import { found, reindexed } from './grouped.ts';
import type { Touched } from './touched.ts';

/** Whether labels have all that a selector asks for. */
function selects(selector: Labels, labels: Labels): boolean {
  for (const name in selector) if (ownMember(labels, name) !== selector[name]) return false;
  return true;
}

type Workloads = Environment['workloadsByLabel'];

/** With the WorkloadEntries after changes. */
export function workloadsByLabelAfter(
  before: Workloads,
  touched: readonly Touched<'WorkloadEntry'>[],
): Workloads {
  return reindexed(before, touched, ({ namespace, spec }) => [
    ['all', namespace],
    ...Object.entries(spec.labels).map((label) => ['labelled', namespace, ...label]),
  ]);
}

/** With the ServiceEntries that select workloads, by one label of the selector. */
export function entriesByLabelAfter(
  before: Environment['entriesByLabel'],
  touched: readonly Touched<'ServiceEntry'>[],
): Environment['entriesByLabel'] {
  return reindexed(before, touched, ({ namespace, spec: { workloadSelector } }) =>
    workloadSelector === undefined ? [] : [[namespace, ...firstOf(workloadSelector)]],
  );
}

/** The WorkloadEntries of a namespace that a selector selects, in no order. */
export function selectedBy(
  workloads: Workloads,
  namespace: string,
  selector: Labels,
): readonly Resource<'WorkloadEntry'>[] {
  const [name, ...value] = firstOf(selector);
  const candidates =
    name === ''
      ? [...found(workloads, 'all', namespace)]
      : [...found(workloads, 'labelled', namespace, name, ...value)];
  return candidates.filter(({ spec }) => selects(selector, spec.labels));
}

/** The ServiceEntries of a namespace that select a workload with these labels. */
export function* selecting(
  entries: Environment['entriesByLabel'],
  namespace: string,
  labels: Labels,
): Generator<Resource<'ServiceEntry'>, undefined> {
  for (const label of [...Object.entries(labels), firstOf({})])
    for (const entry of found(entries, namespace, ...label))
      if (selects(entry.spec.workloadSelector ?? {}, labels)) yield entry;
}

/** The label by which a selector is looked up; an empty name for one that selects all. */
const firstOf = (selector: Labels): readonly [string, string] =>
  Object.entries(selector)[0] ?? ['', ''];
