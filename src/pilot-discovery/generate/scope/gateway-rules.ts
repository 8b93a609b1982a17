import type { GatewayHost } from '../../istio/workloads/gateway.ts';
import type { Resource } from '../../istio/documents/model.ts';
import type { Environment } from '../../environment/environment.ts';
import { isWithin } from '../../istio/fields/wildcard-host.ts';
import { exportedRules } from './exported-rules.ts';
import { memoTable } from './memo.ts';
import type { ProxyNode } from './proxy-node.ts';

type Rule = Resource<'VirtualService'>;

const byGateway = memoTable<ReadonlyMap<string, readonly Rule[]>>();

/**
 * Returns the VirtualServices that name a gateway and are exported to a proxy: the nearest first,
 * then the oldest.
 */
export function rulesOfGateway(
  { virtualServices }: Pick<Environment, 'virtualServices'>,
  { namespace }: Pick<ProxyNode, 'namespace'>,
  gateway: string,
): readonly Rule[] {
  const rulesByGateway = byGateway([virtualServices], '', () => {
    const rules = new Map<string, Rule[]>();
    for (const rule of virtualServices)
      for (const name of new Set(rule.spec.gateways)) {
        const list = rules.get(name);
        if (list === undefined) rules.set(name, [rule]);
        else list.push(rule);
      }
    return rules;
  });
  return exportedRules(rulesByGateway.get(gateway) ?? [], namespace);
}

/**
 * Returns the hosts of a rule that a server has too. If one is a wildcard that contains the other,
 * returns the other. Empty if there is none, or if the server only allows VirtualServices of other
 * namespaces for them.
 */
export function hostsAt(rule: Rule, hosts: readonly GatewayHost[]): readonly string[] {
  const sharedHosts = hosts
    .filter(({ namespace }) => namespace === '*' || namespace === rule.namespace)
    .flatMap(({ host }) =>
      rule.spec.hosts.flatMap((ruleHost) =>
        isWithin(host, ruleHost) ? [host] : isWithin(ruleHost, host) ? [ruleHost] : [],
      ),
    );
  return [...new Set(sharedHosts)];
}
