import { duplicateHosts } from '../environment/duplicate-hosts.ts';
import { hostsAt } from '../generate/scope/gateway-rules.ts';
import { type Check, finding } from './facts.ts';

/** Finds two VirtualServices of the mesh for one host: only the older one counts. */
export const checkMeshHosts: Check = function* ({ environment }) {
  for (const { host, first, second } of duplicateHosts(environment.virtualServices))
    yield finding(
      'IST0109',
      second,
      `spec.hosts[${second.spec.hosts.indexOf(host)}]`,
      `${first.namespace}/${first.name} is for ${host} too, and only one of them takes effect: merge them`,
    );
};

/** Finds hosts of a VirtualService that none of its gateways has. */
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
