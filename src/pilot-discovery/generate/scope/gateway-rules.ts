import type { GatewayHost } from '../../istio/gateway.ts';
import type { Resource } from '../../istio/model.ts';
import type { Environment } from '../../environment/environment.ts';
import { isWithin } from '../../istio/wildcard-host.ts';
import { memoTable } from './memo.ts';
import type { ProxyNode } from './proxy-node.ts';
import { isVisible } from './visible-services.ts';

type Rule = Resource<'VirtualService'>;

const byGateway = memoTable<ReadonlyMap<string, readonly Rule[]>>();

/** A rule for its own namespace comes before one for some others, and that before one for all. */
const rankOf = (rule: Rule, namespace: string): number =>
  rule.spec.exportTo.length === 0 ? 2 : rule.namespace === namespace ? 0 : 1;

/**
 * The VirtualServices that name a gateway and are exported to a proxy: the nearest first, and of
 * those that are exported alike the oldest.
 */
export function rulesOfGateway(
  { virtualServices }: Pick<Environment, 'virtualServices'>,
  { namespace }: Pick<ProxyNode, 'namespace'>,
  gateway: string,
): readonly Rule[] {
  const all = byGateway([virtualServices], '', () => {
    const rules = new Map<string, Rule[]>();
    for (const rule of virtualServices)
      for (const name of new Set(rule.spec.gateways)) {
        const list = rules.get(name);
        if (list === undefined) rules.set(name, [rule]);
        else list.push(rule);
      }
    return rules;
  });
  return (all.get(gateway) ?? [])
    .filter((rule) => isVisible(rule.spec.exportTo, rule.namespace, namespace))
    .sort((a, b) => rankOf(a, namespace) - rankOf(b, namespace));
}

/**
 * The hosts of a rule that a server is for: of a host and a wildcard that has it the host. Empty if
 * none is, or if the server lets VirtualServices of other namespaces alone speak for them.
 */
export function hostsAt(rule: Rule, hosts: readonly GatewayHost[]): readonly string[] {
  const found = hosts
    .filter(({ namespace }) => namespace === '*' || namespace === rule.namespace)
    .flatMap(({ host }) =>
      rule.spec.hosts.flatMap((own) =>
        isWithin(host, own) ? [host] : isWithin(own, host) ? [own] : [],
      ),
    );
  return [...new Set(found)];
}
