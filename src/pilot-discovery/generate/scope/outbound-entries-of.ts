import type { Egress } from '../../istio/workloads/sidecar.ts';
import type { Environment } from '../../environment/environment.ts';
import { bindAddresses } from './bind-address.ts';
import { memoTable } from './memo.ts';
import { chainsByRules, connectionRules } from './mesh-connections.ts';
import { boundEndpoints, outboundBindings } from './outbound-bindings.ts';
import { outboundEntries, type OutboundEntry } from './outbound-entries.ts';
import type { OutboundScope } from './outbound-scope.ts';
import type { ProxyNode } from './proxy-node.ts';
import type { ScopeBlock } from './scope-block.ts';
import { distinguishesCallers } from './scope.ts';
import type { Services } from './visible-services.ts';

const madeEntries = memoTable<readonly OutboundEntry[]>();

/**
 * Returns the entries of listeners and routes; makes them again only if their inputs have changed.
 *
 * @param destinations the services to which routes may lead
 */
export function outboundEntriesOf(
  environment: Environment,
  node: ProxyNode,
  { services, rules: all, egress }: ScopeBlock,
  destinations: Services,
): readonly OutboundEntry[] {
  const { interception, addresses, ownPorts, bindable, namespace, labels } = node;
  const rules = connectionRules(all);
  const caller = rules.some(distinguishesCallers) ? JSON.stringify([namespace, labels]) : '';
  return madeEntries(
    [
      services,
      boundEndpoints(environment, services),
      ...(rules.length === 0 ? [] : [rules, destinations]),
    ],
    `${bindingsText(environment, node, services)}${placeText(egress)}${caller}`,
    () =>
      outboundEntries(
        outboundBindings(
          environment,
          { interception, addresses, ownPorts, bindable },
          [...services.values()],
          egress,
        ),
        chainsByRules(rules, { namespace, labels }, destinations),
      ),
  );
}

/** Returns what a block says of its listeners, as a text. */
const placeText = (egress: Egress | undefined): string =>
  egress === undefined ? '' : JSON.stringify([egress.port, egress.bind, egress.captureMode]);

/**
 * Returns the entries of all blocks of a scope. A block for all ports has no listener at an address
 * and port of an earlier block.
 */
export function scopeEntries(
  environment: Environment,
  node: ProxyNode,
  { blocks, services }: OutboundScope,
): readonly OutboundEntry[] {
  const [first, ...others] = blocks;
  if (first !== undefined && others.length === 0)
    return outboundEntriesOf(environment, node, first, services);
  const earlierAddresses = new Set<string>();
  return blocks.flatMap((block) => {
    const entries = outboundEntriesOf(environment, node, block, services).filter(
      ({ address, port }) => !earlierAddresses.has(`${address}_${String(port)}`),
    );
    for (const { address, port } of entries) earlierAddresses.add(`${address}_${String(port)}`);
    return entries;
  });
}

/** Returns the inputs of bindings that come from a proxy, as a text. */
export function bindingsText(
  environment: Environment,
  node: ProxyNode,
  services: Services,
): string {
  const { interception, addresses, ownPorts, bindable } = node;
  // Bindings depend on the family of the addresses only, unless each endpoint has a listener.
  const [first] = boundEndpoints(environment, services).length > 0 ? addresses : [];
  return JSON.stringify([interception, bindAddresses(node), first, ownPorts, bindable]);
}

/** Returns the names of the route configurations to which these listeners subscribe. */
export function outboundRouteNames(
  environment: Environment,
  node: ProxyNode,
  scope: OutboundScope,
): string[] {
  const chains = scopeEntries(environment, node, scope).flatMap((entry) => entry.chains);
  return [...new Set(chains.flatMap((chain) => (chain.type === 'http' ? [chain.routeName] : [])))];
}
