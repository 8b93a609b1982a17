import type { Resource } from '../istio/model.ts';
import { hostsAt } from '../generate/scope/gateway-rules.ts';
import { type Check, finding } from './facts.ts';

type Rule = Resource<'VirtualService'>;

/** Two VirtualServices of the mesh for one host: the older one counts alone. */
export const checkMeshHosts: Check = function* ({ virtualServices }) {
  const byHost = new Map<string, Rule[]>();
  for (const rule of virtualServices)
    if (rule.spec.gateways.includes('mesh'))
      for (const host of rule.spec.hosts) byHost.set(host, [...(byHost.get(host) ?? []), rule]);
  for (const [host, rules] of byHost)
    for (const [index, rule] of rules.entries()) {
      const other = rules.slice(0, index).find((earlier) => doMeet(earlier, rule));
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
function doMeet(rule: Rule, other: Rule): boolean {
  const [namespaces, otherNamespaces] = [rule.spec.exportTo, other.spec.exportTo];
  return (
    namespaces.length === 0 ||
    otherNamespaces.length === 0 ||
    namespaces.some((namespace) => otherNamespaces.includes(namespace))
  );
}

/** Hosts of a VirtualService that none of its gateways has. */
export const checkGatewayHosts: Check = function* ({ virtualServices, gateways }) {
  const byName = new Map(
    gateways.map((gateway) => [`${gateway.namespace}/${gateway.name}`, gateway]),
  );
  for (const rule of virtualServices) {
    const bound = rule.spec.gateways
      .map((name) => byName.get(name))
      .filter((gateway) => gateway !== undefined);
    if (bound.length === 0 || rule.spec.gateways.includes('mesh')) continue;
    const servers = bound.flatMap(({ spec }) => spec.servers);
    for (const [index, host] of rule.spec.hosts.entries()) {
      const alone = { ...rule, spec: { ...rule.spec, hosts: [host] } };
      if (servers.every(({ hosts }) => hostsAt(alone, hosts).length === 0))
        yield finding(
          'IST0132',
          rule,
          `spec.hosts[${index}]`,
          `no server of ${rule.spec.gateways.join(', ')} has the host ${host}`,
        );
    }
  }
};
