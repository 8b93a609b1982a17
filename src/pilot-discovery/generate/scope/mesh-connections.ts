import type { Resource } from '../../istio/documents/model.ts';
import type { ConnectionMatch } from '../../istio/traffic/virtual-service.ts';
import { isWithin } from '../../istio/fields/wildcard-host.ts';
import { isTls } from '../../istio/fields/is-http.ts';
import { outboundName } from './cluster-name.ts';
import { type ConnectionCluster, connectionClusters } from './connection-clusters.ts';
import { memoTable } from './memo.ts';
import type { OutboundBinding } from './outbound-bindings.ts';
import { selects } from './peer-authentication-of.ts';
import type { ProxyNode } from './proxy-node.ts';
import type { Services } from './visible-services.ts';

type Rule = Resource<'VirtualService'>;

/** Connections of a port that are forwarded without HTTP, and their destinations. */
export interface ConnectionChain {
  /** Their original destinations; empty for all. */
  readonly ranges: readonly string[];
  /** The server names of TLS; empty for all. */
  readonly names: readonly string[];
  /** Undefined if no VirtualService applies to the port. */
  readonly rule: Rule | undefined;
  readonly to: readonly ConnectionCluster[];
}

/** Returns the chains of a port of a service. */
export type ChainsOf = (binding: OutboundBinding) => readonly ConnectionChain[];

const same = memoTable<readonly Rule[]>();

/** Returns the rules with `tcp` or `tls`. Equal lists are the same object. */
export function connectionRules(all: readonly Rule[]): readonly Rule[] {
  const rules = all.filter(({ spec }) => spec.tcp.length > 0 || spec.tls.length > 0);
  return same(rules, '', () => rules);
}

/** Returns the chain of a port to which no VirtualService applies. */
export const plainChain = ({
  service: { host },
  port,
  range,
  serverName,
}: OutboundBinding): ConnectionChain => ({
  ranges: range === '' ? [] : [range],
  names: serverName === '' ? [] : [serverName],
  rule: undefined,
  to: [
    {
      cluster: outboundName({ host, subset: '', port: port.number }),
      host,
      subset: '',
      port: port.number,
      weight: 0,
    },
  ],
});

/**
 * Returns the chains of ports, by the VirtualServices that apply to a caller.
 *
 * @param services the services to which routes may lead
 */
export function chainsByRules(
  rules: readonly Rule[],
  caller: Pick<ProxyNode, 'namespace' | 'labels'>,
  services: Services,
): ChainsOf {
  return (binding) => {
    const { host } = binding.service;
    const matchingRules = rules.filter(({ spec }) =>
      spec.hosts.some((ruleHost) => isWithin(host, ruleHost) || isWithin(ruleHost, host)),
    );
    if (matchingRules.length === 0) return [plainChain(binding)];
    const chains = isTls(binding.port.protocol) ? tlsChains : tcpChains;
    return chains(matchingRules, { binding, caller, services });
  };
}

interface Asked {
  readonly binding: OutboundBinding;
  readonly caller: Pick<ProxyNode, 'namespace' | 'labels'>;
  readonly services: Services;
}

/**
 * Returns the chains by server name. If a rule applies, connections with other names have no chain.
 */
function tlsChains(rules: readonly Rule[], request: Asked): readonly ConnectionChain[] {
  const { binding, services } = request;
  const chains = rules.flatMap((rule) =>
    rule.spec.tls.flatMap(({ match, route }) =>
      match
        .filter((condition) => isFor(condition, request))
        .map(({ sniHosts, destinationSubnets }) => ({
          ranges: rangesOf(destinationSubnets, binding),
          names: sniHosts.includes('*') ? [] : [...new Set(sniHosts)].sort(),
          rule,
          to: connectionClusters(services, route, binding.port.number),
        })),
    ),
  );
  return chains.length > 0 ? chains : [plainChain(binding)];
}

/**
 * Returns the chains by original destination. The first route for all destinations makes the last
 * chain.
 */
function tcpChains(rules: readonly Rule[], request: Asked): readonly ConnectionChain[] {
  const { binding, services } = request;
  const plain = plainChain(binding);
  const chains: ConnectionChain[] = [];
  for (const rule of rules)
    for (const { match, route } of rule.spec.tcp) {
      const fitting = match.filter((condition) => isFor(condition, request));
      if (match.length > 0 && fitting.length === 0) continue;
      const to = connectionClusters(services, route, binding.port.number);
      const isForAny =
        match.length === 0 ||
        fitting.some((condition) => condition.destinationSubnets.length === 0);
      if (isForAny) return [...chains, { ...plain, rule, to }];
      const subnets = fitting.flatMap(({ destinationSubnets }) => destinationSubnets);
      chains.push({ ranges: rangesOf(subnets, binding), names: [], rule, to });
    }
  return [...chains, plain];
}

/** Returns the ranges of a route, else that of the service; none if one is all of IPv4. */
const rangesOf = (subnets: readonly string[], { range }: OutboundBinding): readonly string[] => {
  const ranges = subnets.length > 0 ? subnets : range === '' ? [] : [range];
  return ranges.includes('0.0.0.0/0') ? [] : [...new Set(ranges)].sort();
};

const isFor = (
  { port, gateways, sourceLabels, sourceNamespace }: ConnectionMatch,
  { binding, caller }: Asked,
): boolean =>
  (port === 0 || port === binding.port.number) &&
  (gateways.length === 0 || gateways.includes('mesh')) &&
  (sourceNamespace === '' || sourceNamespace === caller.namespace) &&
  selects(sourceLabels, caller.labels);
