import type { Resource } from '../../istio/model.ts';
import type { Environment, Service } from '../../environment/environment.ts';
import { isWildcard, isWithin } from '../../istio/wildcard-host.ts';
import { exportedRules } from './exported-rules.ts';
import type { ProxyNode } from './proxy-node.ts';

type Rule = Resource<'VirtualService'>;

/** What a VirtualService speaks for, at one port. */
export interface Governed<S> {
  readonly rule: Rule;
  /** Of its hosts those that are no service. */
  readonly hosts: readonly string[];
  readonly services: readonly S[];
}

/**
 * The VirtualServices for HTTP that a sidecar of a namespace heeds: for the mesh, and exported to
 * it, the nearest first.
 */
export function meshRules({ virtualServices }: Environment, { namespace }: ProxyNode): Rule[] {
  const ofMesh = virtualServices.filter(
    ({ spec }) =>
      spec.http.length > 0 && (spec.gateways.length === 0 || spec.gateways.includes('mesh')),
  );
  return exportedRules(ofMesh, namespace);
}

/**
 * Which of the services each rule speaks for. A rule that names a service speaks for it; else the
 * one with the longest wildcard does. Of equals the oldest comes first, and the first wins. A rule
 * whose hosts are all without a service counts where `withoutServices` says so.
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
      const found = named.has(host)
        ? undefined
        : longestFirst.find((one) => isWithin(host, one.host));
      if (found !== undefined) nearest.set(host, found);
    }
  }
  return rules.flatMap((rule): Governed<S>[] => {
    const own = rule.spec.hosts.map((host) => {
      const one = services.get(host);
      if (!isWildcard(host))
        return { host, isNone: one === undefined, found: one === undefined ? [] : [one] };
      const found = [...services].flatMap(([name, its]) =>
        isOf(nearest.get(name), rule, host) ? [its] : [],
      );
      // A wildcard all of whose services other rules speak for says nothing.
      return { host, isNone: ![...services.keys()].some((name) => isWithin(name, host)), found };
    });
    const found = own.flatMap((one) => one.found);
    if (found.length === 0 && !withoutServices) return [];
    return [
      { rule, hosts: own.filter(({ isNone }) => isNone).map(({ host }) => host), services: found },
    ];
  });
}

const isOf = (
  nearest: { readonly rule: Rule; readonly host: string } | undefined,
  rule: Rule,
  host: string,
): boolean => nearest?.rule === rule && nearest.host === host;
