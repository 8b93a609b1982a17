// Why: docs/decisions/075-namespaces-share-views.md
import type { Resource } from '../../istio/documents/model.ts';
import type { Environment } from '../../environment/environment.ts';
import { distributes, labelsOfDistribution } from './locality-policy.ts';
import { memoTable } from './memo.ts';
import { ownMember } from '../../../shared/text/own-member.ts';
import type { ProxyNode } from './proxy-node.ts';

/**
 * Most namespaces see the same services and the same rules. So a value for one of them holds for
 * all. Values are found by a scope: '', or a namespace that a resource singles out.
 */
type Namespaces = ReadonlySet<string>;

const scopeIn = (namespaces: Namespaces, namespace: string): string =>
  namespaces.has(namespace) ? namespace : '';

const ofServices = memoTable<Namespaces>();

/**
 * Returns the scope of services. If a host has several owners, or is not exported to all, its
 * owners and the namespaces to which it is exported are singled out.
 */
export function scopeOfServices(
  { services }: Pick<Environment, 'services'>,
  namespace: string,
): string {
  const namespaces = ofServices([services], '', () => {
    const singledOut = new Set<string>();
    for (const entries of services.values()) {
      const owners = new Set(entries.map((entry) => entry.namespace));
      const isShared = owners.size === 1 && entries.every(({ exportTo }) => isForAll(exportTo));
      if (!isShared)
        for (const name of [...owners, ...entries.flatMap(({ exportTo }) => exportTo)])
          singledOut.add(name);
    }
    return singledOut;
  });
  return scopeIn(namespaces, namespace);
}

const ofRules = memoTable<Namespaces>();

/**
 * Returns the scope of DestinationRules. Namespaces with rules, and those to which rules are
 * exported, are singled out.
 */
export function scopeOfRules(
  { destinationRules }: Pick<Environment, 'destinationRules'>,
  namespace: string,
): string {
  const namespaces = ofRules([destinationRules], '', () => {
    const rules = [...destinationRules.values()].flat();
    return new Set(rules.flatMap((rule) => [rule.namespace, ...rule.spec.exportTo]));
  });
  return scopeIn(namespaces, namespace);
}

interface Callers {
  readonly namespaces: Namespaces;
  /** Whether a rule distinguishes callers. */
  readonly callers: 'alike' | 'apart';
}

/** Returns whether a VirtualService distinguishes callers. */
export const distinguishesCallers = ({ spec }: Resource<'VirtualService'>): boolean =>
  [...spec.http, ...spec.tls, ...spec.tcp].some(({ match }) =>
    match.some(
      ({ sourceLabels, sourceNamespace }) =>
        sourceNamespace !== '' || Object.keys(sourceLabels).length > 0,
    ),
  );

const ofVirtualServices = memoTable<Callers>();

/**
 * Returns the scope of VirtualServices. Namespaces to which they are exported are singled out. If a
 * rule distinguishes callers, the scope is the namespace of the proxy with its labels.
 */
export function scopeOfVirtualServices(
  { virtualServices }: Pick<Environment, 'virtualServices'>,
  node: ProxyNode,
): string {
  const { namespaces, callers } = ofVirtualServices([virtualServices], '', () => {
    const tellsApart = virtualServices.some(distinguishesCallers);
    return {
      namespaces: new Set(virtualServices.flatMap(({ spec }) => spec.exportTo)),
      callers: tellsApart ? 'apart' : 'alike',
    };
  });
  return callers === 'apart'
    ? JSON.stringify([node.namespace, node.labels])
    : scopeIn(namespaces, node.namespace);
}

const ofExports = memoTable<Namespaces>();

/**
 * Returns the scope of exported VirtualServices: each namespace that they name has its own scope.
 */
export const scopeOfExports = (
  { virtualServices }: Pick<Environment, 'virtualServices'>,
  namespace: string,
): string =>
  scopeIn(
    ofExports(
      [virtualServices],
      '',
      () => new Set(virtualServices.flatMap(({ spec }) => spec.exportTo)),
    ),
    namespace,
  );

const ofCallers = memoTable<Namespaces>();

/** Returns the scope of callers: each namespace that a match names has its own scope. */
export function scopeOfCallers(
  environment: Pick<Environment, 'services' | 'virtualServices'>,
  { namespace }: Pick<ProxyNode, 'namespace'>,
): string {
  const { virtualServices } = environment;
  const namespaces = ofCallers([virtualServices], '', () => {
    const routes = virtualServices.flatMap(({ spec }) => spec.http);
    return new Set(
      routes.flatMap(({ match }) => match.map(({ sourceNamespace }) => sourceNamespace)),
    );
  });
  return (
    scopeIn(namespaces, namespace) ||
    scopeOfExports(environment, namespace) ||
    scopeOfServices(environment, namespace)
  );
}

const ofHosts = memoTable<Namespaces>();
const inCluster = '.svc.';

/**
 * Returns the scope of short names: the domain of a proxy. If no host is in that domain, its
 * namespace is left out.
 */
export function scopeOfDomain(services: ReadonlyMap<string, unknown>, dnsDomain: string): string {
  const domains = ofHosts(
    [services],
    '',
    () => new Set([...services.keys()].map((host) => host.slice(host.indexOf('.') + 1))),
  );
  const position = dnsDomain.indexOf(inCluster);
  return position < 0 || domains.has(dnsDomain) ? dnsDomain : dnsDomain.slice(position);
}

const ofPlaces = memoTable<readonly string[]>();
const noLabels: readonly string[] = [];

/** The parts of an environment that may prefer endpoints near to a proxy. */
type Preferring = Pick<Environment, 'destinationRules' | 'services' | 'mesh'>;

const anyClose = memoTable<boolean>();

const isAnyClose = ({ services }: Preferring): boolean =>
  anyClose([services], '', () =>
    [...services.values()].some((entries) =>
      entries.some(({ trafficDistribution }) => trafficDistribution === 'close'),
    ),
  );

/** Returns the names of labels by which rules and services locate a proxy, sorted. */
export function labelsOfPlaces(environment: Preferring): readonly string[] {
  const { destinationRules, mesh } = environment;
  const distribution = isAnyClose(environment) ? labelsOfDistribution : noLabels;
  return ofPlaces([destinationRules, distribution, mesh.localities], '', () => {
    const rules = [...destinationRules.values()].flat();
    const policies = rules.flatMap(({ spec }) => [
      spec.trafficPolicy,
      ...spec.subsets.map((subset) => subset.trafficPolicy),
    ]);
    const all = policies.flatMap((policy) =>
      policy === undefined ? [] : [policy, ...policy.portLevelSettings.values()],
    );
    const wanted = [
      ...mesh.localities.failoverPriority,
      ...all.flatMap(({ loadBalancer: { locality, zones } = {} }) => [
        ...(locality?.failoverPriority ?? []),
        ...(zones?.preference === 'own-zone' ? zones.failoverPriority : []),
      ]),
    ];
    const names = wanted.map((text) => text.split('=')[0] ?? '');
    return [...new Set([...names, ...distribution])].sort();
  });
}

/** Returns the place of a proxy, if a rule, a service or the MeshConfig may depend on it. */
export function scopeOfPlace(
  environment: Preferring,
  { locality, network, labels }: ProxyNode,
): string {
  const { destinationRules, mesh } = environment;
  if (destinationRules.size === 0 && !isAnyClose(environment) && !distributes(mesh)) return '';
  const labelValues = labelsOfPlaces(environment).map((name) =>
    Object.hasOwn(labels, name) ? labels[name] : null,
  );
  return JSON.stringify([locality, network, labelValues]);
}

const ofSelectors = memoTable<ReadonlyMap<string, readonly string[]>>();

/** Returns the names of labels by which the rules of each namespace select workloads, sorted. */
const labelsOfSelectors = ({
  destinationRules,
}: Pick<Environment, 'destinationRules'>): ReadonlyMap<string, readonly string[]> =>
  ofSelectors([destinationRules], '', () => {
    const byNamespace = new Map<string, Set<string>>();
    for (const { namespace, spec } of [...destinationRules.values()].flat()) {
      const labels = byNamespace.get(namespace) ?? new Set();
      for (const name of Object.keys(spec.workloadSelector ?? {})) labels.add(name);
      byNamespace.set(namespace, labels);
    }
    return new Map([...byNamespace].map(([namespace, labels]) => [namespace, [...labels].sort()]));
  });

/**
 * Returns the scope of DestinationRules for a proxy: with its labels by which a rule of its
 * namespace selects workloads. So proxies of one namespace share a scope, unless a rule has a
 * `workloadSelector`.
 */
export function scopeOfRulesFor(
  environment: Environment,
  { namespace, labels }: Pick<ProxyNode, 'namespace' | 'labels'>,
): string {
  const scope = scopeOfRules(environment, namespace);
  if (scope === '') return '';
  const names = labelsOfSelectors(environment).get(namespace) ?? [];
  return JSON.stringify([scope, ...names.map((name) => ownMember(labels, name) ?? null)]);
}

const isForAll = (exportTo: readonly string[]): boolean =>
  exportTo.length === 0 || exportTo.includes('*');
