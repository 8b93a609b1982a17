import { type Check, finding, labelText } from './facts.ts';

/** Sidecars of a namespace that are for the same workloads: one of them counts alone. */
export const checkSidecars: Check = function* ({ sidecars }) {
  const seen = new Map<string, (typeof sidecars)[number]>();
  for (const sidecar of sidecars) {
    const selector = sidecar.spec.workloadSelector;
    const place = JSON.stringify([
      sidecar.namespace,
      selector === undefined ? 'all' : Object.entries(selector).sort(),
    ]);
    const before = seen.get(place);
    if (before === undefined) seen.set(place, sidecar);
    else if (selector === undefined)
      yield finding(
        'IST0111',
        sidecar,
        'spec',
        `${before.name} is for all workloads of ${sidecar.namespace} too, and one of them counts alone: give one of them a workloadSelector`,
      );
    else
      yield finding(
        'IST0110',
        sidecar,
        'spec.workloadSelector',
        `${before.name} selects ${labelText(selector)} too, and one of them counts alone: merge them`,
      );
  }
};
