import { type Check, finding, isDefinedElsewhere, labelText, servicesOf } from './facts.ts';

/** Finds Sidecars of a namespace for the same workloads: only one of them takes effect. */
export const checkSidecars: Check = function* ({ sidecars }) {
  const sidecarBySelector = new Map<string, (typeof sidecars)[number]>();
  for (const sidecar of sidecars) {
    const selector = sidecar.spec.workloadSelector;
    const place = JSON.stringify([
      sidecar.namespace,
      selector === undefined ? 'all' : Object.entries(selector).sort(),
    ]);
    const before = sidecarBySelector.get(place);
    if (before === undefined) sidecarBySelector.set(place, sidecar);
    else if (selector === undefined)
      yield finding(
        'IST0111',
        sidecar,
        'spec',
        `${before.name} is for all workloads of ${sidecar.namespace} too, and only one of them takes effect: give one of them a workloadSelector`,
      );
    else
      yield finding(
        'IST0110',
        sidecar,
        'spec.workloadSelector',
        `${before.name} selects ${labelText(selector)} too, and only one of them takes effect: merge them`,
      );
  }
};

/** Finds hosts of `egress` that no service and no VirtualService has. */
export const checkSidecarHosts: Check = function* (facts) {
  for (const sidecar of facts.sidecars)
    for (const [index, { hosts }] of sidecar.spec.egress.entries())
      for (const [hostIndex, { namespace, host }] of hosts.entries()) {
        if (host.startsWith('*') || namespace === '~' || isDefinedElsewhere(facts, host)) continue;
        const owner = namespace === '.' ? sidecar.namespace : namespace;
        const isOwner = (resource: { readonly namespace: string }) =>
          owner === '*' || resource.namespace === owner;
        const isNamed =
          servicesOf(facts, host).some(isOwner) ||
          facts.virtualServices.some((rule) => isOwner(rule) && rule.spec.hosts.includes(host));
        if (isNamed) continue;
        const where = owner === '*' ? '' : ` in the namespace ${owner}`;
        yield finding(
          'IST0133',
          sidecar,
          `spec.egress[${index}].hosts[${hostIndex}]`,
          `no service has the host ${host}${where}: define it, or leave it out`,
        );
      }
};
