import type { Resource } from '../istio/model.ts';
import { isWithin } from '../istio/wildcard-host.ts';
import { type Check, type AnalysisFacts, finding, sees } from './facts.ts';

type Rule = Resource<'VirtualService'>;

/** Two VirtualServices of the mesh for one host: the older one counts alone. */
export const checkMeshHosts: Check = function* ({ virtualServices }) {
  const byHost = new Map<string, Rule[]>();
  for (const rule of virtualServices)
    if (rule.spec.gateways.includes('mesh'))
      for (const host of rule.spec.hosts) byHost.set(host, [...(byHost.get(host) ?? []), rule]);
  for (const [host, rules] of byHost)
    for (const [index, rule] of rules.entries()) {
      const other = rules.slice(0, index).find((one) => doMeet(one, rule));
      if (other !== undefined)
        yield finding(
          'IST0109',
          rule,
          `spec.hosts[${rule.spec.hosts.indexOf(host)}]`,
          `${other.namespace}/${other.name} is for ${host} too, and one of them counts alone: merge them`,
        );
    }
};

/** Whether there is a namespace that sees both. */
function doMeet(one: Rule, other: Rule): boolean {
  const [mine, others] = [one.spec.exportTo, other.spec.exportTo];
  if (mine.length === 0) return sees(others, other.namespace, other.namespace);
  if (others.length === 0) return sees(mine, one.namespace, one.namespace);
  return mine.some((namespace) => others.includes(namespace));
}

/** Hosts of a VirtualService that none of its gateways has. */
export const checkGatewayHosts: Check = function* ({ virtualServices, gateways }) {
  const byName = new Map(gateways.map((one) => [`${one.namespace}/${one.name}`, one]));
  for (const rule of virtualServices) {
    const bound = rule.spec.gateways.map((name) => byName.get(name)).filter(isThere);
    if (bound.length === 0 || rule.spec.gateways.includes('mesh')) continue;
    for (const [index, host] of rule.spec.hosts.entries())
      if (!bound.some((gateway) => hasHost(gateway, rule.namespace, host)))
        yield finding(
          'IST0132',
          rule,
          `spec.hosts[${index}]`,
          `no server of ${rule.spec.gateways.join(', ')} has the host ${host}`,
        );
  }
};

const isThere = <T>(value: T | undefined): value is T => value !== undefined;

function hasHost(
  { spec, namespace: own }: AnalysisFacts['gateways'][number],
  namespace: string,
  host: string,
): boolean {
  return spec.servers.some(({ hosts }) =>
    hosts.some(
      (one) =>
        ['*', namespace].includes(one.namespace === '.' ? own : one.namespace) &&
        (isWithin(host, one.host) || isWithin(one.host, host)),
    ),
  );
}
