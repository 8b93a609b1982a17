import type { Labels } from '../istio/values.ts';
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
    for (const one of [before, after])
      if (one !== undefined) yield { namespace: one.namespace, labels: labelsOfEntry(one) };
  for (const { before, after } of touchedOf(touched, 'Pod'))
    for (const one of [before, after])
      if (one !== undefined) yield { namespace: one.namespace, labels: labelsOfPod(one) };
}
