import type { PlacedMutant } from '../mutant.ts';

const providers = 'pilot-discovery/analyze/check-providers.ts';
const gateway = 'pilot-discovery/istio/workloads/read-gateway.ts';
const group = 'pilot-discovery/istio/workloads/read-workload-group.ts';
const entry = 'pilot-discovery/istio/hosts/read-service-entry.ts';
const selectors = 'pilot-discovery/analyze/check-selectors.ts';

export const analyze: readonly PlacedMutant[] = [
  {
    id: 'analyze/providers/without-a-mesh-config',
    file: providers,
    find: 'if (facts.mesh === undefined) return;',
    replace: 'if (facts.mesh === undefined) throw new Error();',
  },
  {
    id: 'analyze/providers/case',
    file: providers,
    find: 'other.name.toLowerCase() === name.toLowerCase()',
    replace: 'other.name === name',
  },
  {
    id: 'analyze/providers/built-in',
    file: providers,
    find: 'builtIn.has(name.toLowerCase())',
    replace: 'false',
  },
  {
    id: 'analyze/providers/wrong-purpose',
    file: providers,
    find: 'namesake !== undefined && isRight(namesake)',
    replace: 'namesake !== undefined',
  },
  {
    id: 'analyze/providers/metrics',
    file: providers,
    find: "what !== 'metrics'",
    replace: 'true',
  },
  {
    id: 'analyze/providers/rules-that-ask-nobody',
    file: providers,
    find: "effect.type !== 'asks'",
    replace: "effect.type === 'asks'",
  },
  {
    id: 'analyze/providers/address-of-an-authorizer',
    file: providers,
    find: "authorizer !== 'closed'",
    replace: 'false',
  },
  {
    id: 'analyze/providers/defined-elsewhere',
    file: providers,
    find: 'if (isDefinedElsewhere(facts, host)) return;',
    replace: '',
  },
  {
    id: 'analyze/providers/several-services',
    file: providers,
    find: "place.type === 'several'",
    replace: 'false',
  },
  {
    id: 'analyze/providers/port',
    file: providers,
    find: '!ports.includes(port)',
    replace: 'false',
  },
  {
    id: 'analyze/selectors/no-workload-is-known',
    file: selectors,
    find: 'if (!workloads.has(labelKey(place))) continue;',
    replace: '',
  },
  {
    id: 'analyze/selectors/first-label-only',
    file: selectors,
    find: 'candidates.some((labels) => selects(selector, labels))',
    replace: 'candidates.length > 0',
  },
  {
    id: 'analyze/selectors/all-namespaces',
    file: selectors,
    find: "scope === 'mesh' ? everywhere : resource.namespace",
    replace: 'everywhere',
  },
  {
    id: 'analyze/selectors/root-namespace',
    file: selectors,
    find: "namespace === mesh.rootNamespace ? 'mesh' : 'namespace'",
    replace: "'namespace' as const",
  },
  {
    id: 'analyze/selectors/pods',
    file: selectors,
    find: '...pods.map(({ namespace, labels }) => ({ namespace, labels })),',
    replace: '',
  },
  {
    id: 'analyze/selectors/subset-without-endpoints',
    file: selectors,
    find: 'if (endpoints.length === 0) continue;',
    replace: '',
  },
  {
    id: 'analyze/selectors/empty-subset',
    file: selectors,
    find: '!endpoints.some((endpoint) => selects(labels, endpoint.labels))',
    replace: 'false',
  },
  {
    id: 'analyze/gateways/all-hosts',
    file: gateway,
    find: "value.includes('*/*')",
    replace: 'false',
  },
  {
    id: 'analyze/groups/port',
    file: group,
    find: "if (value === undefined) wrong(place, 'it is missing: a port from 1 to 65535');",
    replace: '',
  },
  {
    id: 'analyze/groups/empty-scheme',
    file: group,
    find: "value === '' ? undefined : value",
    replace: 'value',
  },
  {
    id: 'analyze/groups/two-methods',
    file: group,
    find: 'given.length > 1',
    replace: 'given.length > 9',
  },
  {
    id: 'analyze/groups/no-method',
    file: group,
    find: 'given.length === 0',
    replace: 'given.length > 9',
  },
  {
    id: 'analyze/groups/empty-command',
    file: group,
    find: 'value.length === 0',
    replace: 'value.length > 9',
  },
  {
    id: 'analyze/groups/no-template',
    file: group,
    find: "!has('template')",
    replace: 'false',
  },
  {
    id: 'analyze/groups/labels-of-the-template',
    file: selectors,
    find: '{ ...template.labels, ...labels }',
    replace: 'labels',
  },
  {
    id: 'analyze/groups/labels-of-both',
    file: selectors,
    find: '{ ...template.labels, ...labels }',
    replace: '{ ...labels, ...template.labels }',
  },
  {
    id: 'analyze/entries/folder',
    file: entry,
    find: "workloadAddress.endsWith('/')",
    replace: 'false',
  },
  {
    id: 'analyze/entries/port-name',
    file: entry,
    find: '!isLabel(name) || name.length > 62',
    replace: '!isLabel(name)',
  },
  {
    id: 'analyze/entries/template',
    file: entry,
    find: "if (read.address !== '') checkAddress",
    replace: 'checkAddress',
  },
];
