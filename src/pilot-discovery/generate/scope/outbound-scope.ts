// Why: docs/decisions/090-a-sidecar-is-a-scope.md
import { changedKeys } from '../../../shared/maps/sorted-map.ts';
import type { Resource } from '../../istio/documents/model.ts';
import type { Egress } from '../../istio/workloads/sidecar.ts';
import type { Environment } from '../../environment/environment.ts';
import { type EgressHosts, egressHosts } from './egress-hosts.ts';
import { importedServices } from './imported-services.ts';
import { type Derived, derivedTable, isSame, memoTable } from './memo.ts';
import type { ProxyNode } from './proxy-node.ts';
import { isForMesh, meshRules } from './rules-for-hosts.ts';
import type { ScopeBlock } from './scope-block.ts';
import { scopeOfCallers } from './scope.ts';
import { sidecarOf } from './sidecar-of.ts';
import { type Services, visibleServices } from './visible-services.ts';
import { destinationsOf, withDestinations } from './with-destinations.ts';

type Rule = Resource<'VirtualService'>;

/** The services and the VirtualServices that apply to the calls of an application. */
export interface OutboundScope {
  /** The services that have clusters. */
  readonly services: Services;
  readonly blocks: readonly ScopeBlock[];
}

/**
 * Returns what the application of a proxy may call, by its Sidecar. The result is the same object
 * while the services and the VirtualServices of the scope do not change.
 */
export function outboundScope(environment: Environment, node: ProxyNode): OutboundScope {
  const egress = node.role === 'router' ? [] : (sidecarOf(environment, node)?.spec.egress ?? []);
  if (egress.every(isForAll)) return wholeScope(environment, node);
  const isOwn = egress.some(({ hosts }) => hosts.some(({ namespace }) => namespace === '.'));
  const namespace = isOwn ? node.namespace : scopeOfCallers(environment, node);
  return scopes(
    [],
    JSON.stringify([egress, namespace]),
    [environment.services, environment.virtualServices],
    { egress, namespace },
  );
}

/**
 * Returns whether an egress block restricts nothing: all hosts, all ports, captured as without a
 * Sidecar.
 */
const isForAll = ({ hosts, port, bind, captureMode }: Egress): boolean =>
  port === undefined &&
  bind === '' &&
  captureMode !== 'none' &&
  hosts.some(({ namespace, host }) => namespace === '*' && host === '*');

const wholes = memoTable<OutboundScope>();

function wholeScope(environment: Environment, node: ProxyNode): OutboundScope {
  const services = visibleServices(environment, node);
  const rules = meshRules(environment, node);
  return wholes([services, rules], '', () => ({
    services,
    blocks: [{ egress: undefined, services, rules }],
  }));
}

type Sources = readonly [
  services: Environment['services'],
  virtualServices: Environment['virtualServices'],
];

/** The blocks, and the namespace of the proxy; '' if the namespace makes no difference. */
interface Asked {
  readonly egress: readonly Egress[];
  readonly namespace: string;
}

const scopes = derivedTable<Sources, OutboundScope, Asked>(scopeAfter, () => undefined);

function scopeAfter(
  last: Derived<Sources, OutboundScope> | undefined,
  sources: Sources,
  { egress, namespace }: Asked,
): OutboundScope {
  const hosts = egress.map((egressBlock) => egressHosts(egressBlock.hosts, namespace));
  if (last !== undefined && !mayDiffer(last, sources, hosts)) return last.value;
  const [services, virtualServices] = sources;
  const rules = meshRules({ virtualServices }, { namespace });
  const blocks = egress.map((egressBlock, index): ScopeBlock => {
    const named = hosts[index] ?? egressHosts([], namespace);
    const before = last?.value.blocks[index];
    return {
      egress: before?.egress ?? egressBlock,
      services: steady(before?.services, importedServices(services, named, egressBlock, namespace)),
      rules: steadyList(
        before?.rules ?? [],
        rules.filter((rule) => isNamed(rule, named)),
      ),
    };
  });
  const [first] = blocks;
  const scopeServices = steady(
    first?.services,
    steady(last?.value.services, withDestinations(blocks, services, namespace)),
  );
  const isSameScope =
    last?.value.services === scopeServices &&
    blocks.every((block, index) => {
      const before = last.value.blocks[index];
      return before?.services === block.services && before.rules === block.rules;
    });
  return isSameScope ? last.value : { services: scopeServices, blocks };
}

const isNamed = ({ namespace, spec }: Rule, hosts: EgressHosts): boolean =>
  hosts.hostsFor(namespace).some(({ meets }) => spec.hosts.some(meets));

/** Returns the earlier services if they are the same. */
const steady = (before: Services | undefined, now: Services): Services =>
  before !== undefined && isSame([...before.values()], [...now.values()]) ? before : now;

const steadyList = <T>(before: readonly T[], now: readonly T[]): readonly T[] =>
  isSame(before, now) ? before : now;

/**
 * Returns whether a service or a VirtualService of the blocks has changed, or a service to which
 * one of these VirtualServices sends calls.
 */
function mayDiffer(
  { value, sources: [servicesBefore, rulesBefore] }: Derived<Sources, OutboundScope>,
  [services, virtualServices]: Sources,
  hosts: readonly EgressHosts[],
): boolean {
  const isRuleOther = changedRules(rulesBefore, virtualServices).some((rule) =>
    hosts.some((named) => isNamed(rule, named)),
  );
  if (isRuleOther) return true;
  const rules = value.blocks.flatMap((block) => block.rules);
  return changedKeys(servicesBefore, services).some(
    (host) =>
      [servicesBefore, services]
        .flatMap((servicesByHost) => servicesByHost.get(host) ?? [])
        .some(({ namespace }) =>
          hosts.some((named) =>
            named.hostsFor(namespace).some(({ hasService }) => hasService(host)),
          ),
        ) || rules.some((rule) => destinationsOf(rule).has(host)),
  );
}

const differing = memoTable<readonly Rule[]>();

/** Returns the VirtualServices for the mesh that are in only one of two lists. */
const changedRules = (before: readonly Rule[], after: readonly Rule[]): readonly Rule[] =>
  differing([before, after], '', () => {
    const [old, now] = [new Set(before), new Set(after)];
    return [
      ...before.filter((rule) => !now.has(rule)),
      ...after.filter((rule) => !old.has(rule)),
    ].filter(isForMesh);
  });
