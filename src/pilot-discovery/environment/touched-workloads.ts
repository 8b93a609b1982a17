import type { Labels } from '../istio/fields/values.ts';
import { touchedOf, type TouchedByKind } from './touched.ts';
import { labelsOfEntry, labelsOfPod } from './workload-endpoint.ts';

/**
 * Yields the labels that WorkloadEntries and Pods had before changes, and that they have after
 * them.
 */
export function* touchedWorkloads(
  touched: TouchedByKind,
): Generator<{ readonly namespace: string; readonly labels: Labels }, undefined> {
  for (const { before, after } of touchedOf(touched, 'WorkloadEntry'))
    for (const entry of [before, after])
      if (entry !== undefined) yield { namespace: entry.namespace, labels: labelsOfEntry(entry) };
  for (const { before, after } of touchedOf(touched, 'Pod'))
    for (const pod of [before, after])
      if (pod !== undefined) yield { namespace: pod.namespace, labels: labelsOfPod(pod) };
}
