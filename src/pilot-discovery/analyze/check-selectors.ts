import { serviceKey } from '../environment/environment.ts';
import { ofKind } from '../environment/resources.ts';
import { selects } from '../generate/scope/peer-authentication-of.ts';
import type { AnyResource } from '../istio/model.ts';
import type { Labels, Selector } from '../istio/values.ts';
import { type AnalysisFacts, type Check, finding, labelText, servicesOf } from './facts.ts';

/**
 * Selectors whose labels no workload has. A proxy has labels by its own metadata too, so this looks
 * only where resources name workloads: in the namespace, or in the mesh if the selector is for all.
 */
export const checkSelectors: Check = function* (facts) {
  const workloads = workloadsOf(facts);
  for (const { resource, field, selector, scope } of selectorsOf(facts)) {
    const candidates = workloads.filter(
      ({ namespace }) => scope === 'mesh' || namespace === resource.namespace,
    );
    if (candidates.length === 0 || selector === undefined) continue;
    if (Object.keys(selector).length === 0) continue;
    if (candidates.some(({ labels }) => selects(selector, labels))) continue;
    const where = scope === 'mesh' ? '' : ` of the namespace ${resource.namespace}`;
    yield finding(
      'IST0127',
      resource,
      field,
      `no workload${where} has the labels ${labelText(selector)}`,
    );
  }
};

interface LabelledWorkload {
  readonly namespace: string;
  readonly labels: Labels;
}

function workloadsOf({ environment }: AnalysisFacts): readonly LabelledWorkload[] {
  const pods = [...ofKind(environment.resources, 'Pod').values()].flatMap((names) => [
    ...names.values(),
  ]);
  const entries = [...environment.workloadEntries.values()];
  return [
    ...pods.map(({ namespace, labels }) => ({ namespace, labels })),
    ...entries.map(({ namespace, spec }) => ({ namespace, labels: spec.labels })),
  ];
}

type NamedResource = Pick<AnyResource, 'kind' | 'namespace' | 'name' | 'origin'>;

interface PlacedSelector {
  readonly resource: NamedResource;
  readonly field: string;
  readonly selector: Selector;
  readonly scope: 'namespace' | 'mesh';
}

function* selectorsOf({ environment, gateways }: AnalysisFacts): Generator<PlacedSelector> {
  const { mesh, resources } = environment;
  for (const resource of gateways)
    yield {
      resource,
      field: 'spec.selector',
      selector: resource.spec.selector,
      scope: 'mesh',
    };
  const scopeOf = ({ namespace }: NamedResource) =>
    namespace === mesh.rootNamespace ? 'mesh' : 'namespace';
  for (const kind of ['Sidecar', 'DestinationRule', 'ServiceEntry'] as const)
    for (const names of ofKind(resources, kind).values())
      for (const resource of names.values())
        yield {
          resource,
          field: 'spec.workloadSelector',
          selector: resource.spec.workloadSelector,
          scope: 'namespace',
        };
  const policies = [
    'PeerAuthentication',
    'AuthorizationPolicy',
    'RequestAuthentication',
    'Telemetry',
    'ProxyConfig',
  ] as const;
  for (const kind of policies)
    for (const names of ofKind(resources, kind).values())
      for (const resource of names.values())
        yield {
          resource,
          field: 'spec.selector',
          selector: resource.spec.selector,
          scope: scopeOf(resource),
        };
}

/** Subsets that no endpoint of their host belongs to, if endpoints are known. */
export const checkSubsetLabels: Check = function* (facts) {
  for (const rule of facts.destinationRules) {
    const endpoints = servicesOf(facts, rule.spec.host).flatMap((service) =>
      [...(facts.environment.endpoints.get(serviceKey(service))?.values() ?? [])].flat(),
    );
    if (endpoints.length === 0) continue;
    for (const [index, { name, labels }] of rule.spec.subsets.entries())
      if (!endpoints.some((endpoint) => selects(labels, endpoint.labels)))
        yield finding(
          'IST0127',
          rule,
          `spec.subsets[${index}].labels`,
          `no endpoint of ${rule.spec.host} has the labels ${labelText(labels)}, so the subset ${name} is empty`,
        );
  }
};
