import type { Resource } from '../../istio/documents/model.ts';
import type { Environment, Service } from '../../environment/environment.ts';
import { isWildcard, isWithin } from '../../istio/fields/wildcard-host.ts';
import { exportedRules } from './exported-rules.ts';
import { memoTable } from './memo.ts';
import type { ProxyNode } from './proxy-node.ts';
import { scopeOfExports } from './scope.ts';

type Rule = Resource<'VirtualService'>;

/** A VirtualService, with the hosts to which it applies at one port. */
export interface Governed<S> {
  readonly rule: Rule;
  /** The hosts of the VirtualService that are not services. */
  readonly hosts: readonly string[];
  readonly services: readonly S[];
}

/** Returns whether a VirtualService is for sidecars. */
export const isForMesh = ({ spec }: Rule): boolean =>
  spec.gateways.length === 0 || spec.gateways.includes('mesh');

const rulesByScope = memoTable<readonly Rule[]>();

/**
 * Returns the VirtualServices that apply to sidecars of a namespace: for the mesh, and exported to
 * the namespace, the nearest first.
 */
export const meshRules = (
  { virtualServices }: Pick<Environment, 'virtualServices'>,
  { namespace }: Pick<ProxyNode, 'namespace'>,
): readonly Rule[] =>
  rulesByScope([virtualServices], scopeOfExports({ virtualServices }, namespace), () =>
    exportedRules(virtualServices.filter(isForMesh), namespace),
  );

/**
 * Returns the services to which each rule applies. A rule that names a service applies to it; if
 * none does, the rule with the longest wildcard applies. Equal rules are in order of age, and the
 * first wins. `withoutServices` says whether a rule applies if none of its hosts has a service.
 */
export function rulesForHosts<S extends { readonly service: Service }>(
  rules: readonly Rule[],
  services: ReadonlyMap<string, S>,
  withoutServices: boolean,
): Governed<S>[] {
  const named = new Set(
    rules.flatMap(({ spec }) => spec.hosts.filter((host) => !isWildcard(host))),
  );
  const wide = rules.flatMap((rule) =>
    rule.spec.hosts.filter(isWildcard).map((host) => ({ rule, host })),
  );
  const nearest = new Map<string, { readonly rule: Rule; readonly host: string }>();
  if (wide.length > 0) {
    const longestFirst = [...wide].sort((a, b) => b.host.length - a.host.length);
    for (const host of services.keys()) {
      const longestWildcard = named.has(host)
        ? undefined
        : longestFirst.find((wildcard) => isWithin(host, wildcard.host));
      if (longestWildcard !== undefined) nearest.set(host, longestWildcard);
    }
  }
  return rules.flatMap((rule): Governed<S>[] => {
    const ruleHosts = rule.spec.hosts.map((host) => {
      const exact = services.get(host);
      if (!isWildcard(host))
        return { host, isNone: exact === undefined, governed: exact === undefined ? [] : [exact] };
      const governed = [...services].flatMap(([name, service]) =>
        isOf(nearest.get(name), rule, host) ? [service] : [],
      );
      // A wildcard has no effect if other rules apply to all of its services.
      return { host, isNone: ![...services.keys()].some((name) => isWithin(name, host)), governed };
    });
    const governedServices = ruleHosts.flatMap((ruleHost) => ruleHost.governed);
    if (governedServices.length === 0 && !withoutServices) return [];
    return [
      {
        rule,
        hosts: ruleHosts.filter(({ isNone }) => isNone).map(({ host }) => host),
        services: governedServices,
      },
    ];
  });
}

const isOf = (
  nearest: { readonly rule: Rule; readonly host: string } | undefined,
  rule: Rule,
  host: string,
): boolean => nearest?.rule === rule && nearest.host === host;
