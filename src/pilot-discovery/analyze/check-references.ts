import type { Resource } from '../istio/documents/model.ts';
import type { Destination } from '../istio/traffic/virtual-service.ts';
import type { Service } from '../environment/environment.ts';
import { isVisible } from '../generate/scope/visible-services.ts';
import {
  type AnalysisFacts,
  type Check,
  finding,
  isDefinedElsewhere,
  servicesOf,
} from './facts.ts';
import type { AnalysisFinding } from './finding.ts';

type Rule = Resource<'VirtualService'>;

/** A destination and its field, as `spec.http[0].route[0].destination`. */
type Placed = readonly [field: string, destination: Destination];

/** Finds hosts, subsets and ports that routes lead to, and that nothing defines. */
export const checkDestinations: Check = function* (facts) {
  for (const rule of facts.virtualServices)
    for (const [field, destination] of destinationsOf(rule))
      yield* destinationFindings(facts, rule, field, destination);
};

function* destinationsOf({ spec }: Rule): Generator<Placed> {
  for (const [index, { route, mirrors }] of spec.http.entries()) {
    for (const [routeIndex, { destination }] of route.entries())
      yield [`spec.http[${index}].route[${routeIndex}].destination`, destination];
    for (const [mirrorIndex, { destination }] of mirrors.entries())
      yield [`spec.http[${index}].mirrors[${mirrorIndex}].destination`, destination];
  }
  for (const kind of ['tls', 'tcp'] as const)
    for (const [index, { route }] of spec[kind].entries())
      for (const [routeIndex, { destination }] of route.entries())
        yield [`spec.${kind}[${index}].route[${routeIndex}].destination`, destination];
}

function* destinationFindings(
  facts: AnalysisFacts,
  rule: Rule,
  field: string,
  { host, subset, port }: Destination,
): Generator<AnalysisFinding> {
  const hostServices = servicesOf(facts, host);
  const visibleServices = hostServices.filter(({ exportTo, namespace }) =>
    isVisible(exportTo, namespace, rule.namespace),
  );
  const isElsewhere = hostServices.length === 0 && isDefinedElsewhere(facts, host);
  if (visibleServices.length === 0 && !isElsewhere) {
    const reason =
      hostServices.length === 0
        ? `no service has the host ${host}: define it, or name another`
        : `the host ${host} is not exported to the namespace ${rule.namespace}`;
    yield finding('IST0101', rule, `${field}.host`, reason);
    return;
  }
  yield* portFindings(rule, field, host, port, visibleServices);
  if (subset === '' || hasSubset(facts, rule.namespace, host, subset)) return;
  yield finding(
    'IST0101',
    rule,
    `${field}.subset`,
    `no DestinationRule for ${host} has the subset ${subset}`,
  );
}

function* portFindings(
  rule: Rule,
  field: string,
  host: string,
  port: number,
  services: readonly Service[],
): Generator<AnalysisFinding> {
  const numbers = [...new Set(services.flatMap(({ ports }) => ports.map(({ number }) => number)))];
  const portList = numbers.sort((a, b) => a - b).join(', ');
  if (port === 0 && numbers.length > 1)
    yield finding(
      'IST0112',
      rule,
      field,
      `${host} has the ports ${portList}: say which one with port.number`,
    );
  if (port !== 0 && numbers.length > 0 && !numbers.includes(port))
    yield finding('IST0101', rule, `${field}.port`, `${host} has no port ${port}, but ${portList}`);
}

function hasSubset(
  { environment }: AnalysisFacts,
  namespace: string,
  host: string,
  subset: string,
): boolean {
  return (environment.destinationRules.get(host) ?? []).some(
    (destinationRule) =>
      isVisible(destinationRule.spec.exportTo, destinationRule.namespace, namespace) &&
      destinationRule.spec.subsets.some(({ name }) => name === subset),
  );
}

/** Finds Gateways that a VirtualService names, and that do not exist. */
export const checkGatewayNames: Check = function* ({ virtualServices, gateways }) {
  const names = new Set(gateways.map(({ namespace, name }) => `${namespace}/${name}`));
  for (const rule of virtualServices) {
    for (const [field, name] of gatewayNamesOf(rule))
      if (name !== 'mesh' && !names.has(name))
        yield finding(
          'IST0101',
          rule,
          field,
          `there is no Gateway ${name}: define it, or name another`,
        );
  }
};

function* gatewayNamesOf({ spec }: Rule): Generator<readonly [field: string, name: string]> {
  for (const [index, name] of spec.gateways.entries()) yield [`spec.gateways[${index}]`, name];
  for (const kind of ['http', 'tls', 'tcp'] as const)
    for (const [index, { match }] of spec[kind].entries())
      for (const [matchIndex, { gateways }] of match.entries())
        for (const [gatewayIndex, name] of gateways.entries())
          yield [`spec.${kind}[${index}].match[${matchIndex}].gateways[${gatewayIndex}]`, name];
}

/** Finds DestinationRules for a host that no service has. */
export const checkRuleHosts: Check = function* (facts) {
  for (const rule of facts.destinationRules) {
    const { host } = rule.spec;
    if (host.startsWith('*') || servicesOf(facts, host).length > 0) continue;
    if (isDefinedElsewhere(facts, host)) continue;
    yield finding(
      'IST0101',
      rule,
      'spec.host',
      `no service has the host ${host}: define it, or name another`,
    );
  }
};
