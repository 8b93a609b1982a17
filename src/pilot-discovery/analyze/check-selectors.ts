import { serviceKey } from '../environment/environment.ts';
import { eachOf } from '../environment/resources.ts';
import { selects } from '../generate/scope/peer-authentication-of.ts';
import type { AnyResource } from '../istio/documents/model.ts';
import type { Labels, Selector } from '../istio/fields/values.ts';
import { type AnalysisFacts, type Check, finding, labelText, servicesOf } from './facts.ts';

/**
 * Finds selectors whose labels no workload has. The metadata of a proxy may add labels, so this
 * looks only where resources name workloads: in the namespace, or in the mesh if the selector is
 * for all.
 */
export const checkSelectors: Check = function* (facts) {
  const workloads = labelled(workloadsOf(facts));
  for (const { resource, field, selector, scope } of selectorsOf(facts)) {
    const place = scope === 'mesh' ? everywhere : resource.namespace;
    const [label] = Object.entries(selector ?? {});
    if (selector === undefined || label === undefined) continue;
    if (!workloads.has(labelKey(place))) continue;
    const candidates = workloads.get(labelKey(place, label)) ?? [];
    if (candidates.some((labels) => selects(selector, labels))) continue;
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
  const pods = [...eachOf(environment.resources, 'Pod')];
  const entries = [...environment.workloadEntries.values()];
  // Another control plane may register their machines.
  const groups = [...eachOf(environment.resources, 'WorkloadGroup')];
  return [
    ...pods.map(({ namespace, labels }) => ({ namespace, labels })),
    ...entries.map(({ namespace, spec }) => ({ namespace, labels: spec.labels })),
    ...groups.map(({ namespace, spec: { template, labels } }) => ({
      namespace,
      labels: { ...template.labels, ...labels },
    })),
  ];
}

/** The place of a selector for the whole mesh; no namespace has this name. */
const everywhere = '';

/** The key of a place, or of a label there. */
const labelKey = (place: string, label: readonly string[] = []): string =>
  JSON.stringify([place, ...label]);

/**
 * Returns the labels of workloads by each place and by each label there. A selector is compared
 * only with the workloads that have its first label.
 */
function labelled(workloads: readonly LabelledWorkload[]): ReadonlyMap<string, readonly Labels[]> {
  const index = new Map<string, Labels[]>();
  const add = (key: string, labels: Labels) => {
    const list = index.get(key);
    if (list === undefined) index.set(key, [labels]);
    else list.push(labels);
  };
  for (const { namespace, labels } of workloads)
    for (const place of [everywhere, namespace]) {
      add(labelKey(place), labels);
      for (const label of Object.entries(labels)) add(labelKey(place, label), labels);
    }
  return index;
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
    for (const resource of eachOf(resources, kind))
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
    for (const resource of eachOf(resources, kind))
      yield {
        resource,
        field: 'spec.selector',
        selector: resource.spec.selector,
        scope: scopeOf(resource),
      };
}

/** Finds subsets that no endpoint of their host belongs to, if endpoints are known. */
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
