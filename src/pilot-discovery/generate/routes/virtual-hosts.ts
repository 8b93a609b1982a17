import { keyOf, type Resource, type ResourceKey } from '../../istio/documents/model.ts';
import type { ServicePort } from '../../istio/hosts/service-entry.ts';
import type { RouteSchema } from '../../../shared/proto/envoy/config/route/v3/route_components_pb.ts';
import type { MatchedRule } from '../scope/destination-rule-of.ts';
import { encodedVirtualHost, type VirtualHost } from './encoded-virtual-host.ts';
import { hashPolicyOf } from './hash-policy.ts';
import { httpRules, httpRulesFor } from './http-rules.ts';
import { memoTable } from '../scope/memo.ts';
import { listenerKindOf } from '../scope/outbound-bindings.ts';
import type { ProxyNode } from '../scope/proxy-node.ts';
import { plainForward } from './route-action.ts';
import { routesOfVirtualService } from './route.ts';
import { hashes, hashingRules, noRule, type RulesOf } from './rules-of-hosts.ts';
import { rulesForHosts } from '../scope/rules-for-hosts.ts';
import type { ScopeBlock } from '../scope/scope-block.ts';
import { distinguishesCallers } from '../scope/scope.ts';
import type { Init } from '../encoding/typed-config.ts';
import { domainOf, shortNames, virtualHostName } from './virtual-host-domains.ts';
import type { VisibleService } from '../scope/visible-services.ts';

/** A service at one port. If it has several addresses, the virtual host has the last one. */
interface PortService {
  readonly service: VisibleService;
  readonly port: ServicePort;
  readonly address: string;
}

/** A virtual host before it is encoded. */
interface Plan {
  readonly name: string;
  readonly domains: readonly string[];
  /**
   * The domains that are short names. One that is also the full name of a service is left to that
   * service.
   */
  readonly short: readonly string[];
  readonly make: (domains: readonly string[]) => VirtualHost | undefined;
}

/** The requests that virtual hosts of a port are for. */
type Requests =
  /** Requests to a listener of the port. */
  | { readonly to: 'port' }
  /** Requests to one service, whatever host they name. */
  | { readonly to: 'service'; readonly host: string }
  /** Requests that name the port themselves, at a listener for all ports. */
  | { readonly to: 'named-port' };

/** Returns the virtual hosts of a listener for all ports of its services, sorted by name. */
export function virtualHostsOfAllPorts(
  node: ProxyNode,
  block: ScopeBlock,
  rulesOf: RulesOf,
): VirtualHost[] {
  // A request without a port is for port 80.
  const numbers = [...block.services.values()].flatMap(({ ports }) =>
    ports.map(({ number }) => number),
  );
  return [...new Set([80, ...numbers])]
    .flatMap((port) => virtualHosts(node, block, rulesOf, port, { to: 'named-port' }))
    .sort(byName);
}

const byName = (a: VirtualHost, b: VirtualHost): number =>
  a.name < b.name ? -1 : a.name > b.name ? 1 : 0;

/**
 * Returns the virtual hosts for HTTP at a port, sorted by name: those of VirtualServices for
 * services visible to a proxy, and those of services for which no VirtualService has a route. A
 * name and a domain belong to the first virtual host that has them.
 *
 * @param rulesOf the DestinationRules for destinations
 */
export function virtualHosts(
  node: ProxyNode,
  { services, rules }: ScopeBlock,
  rulesOf: RulesOf,
  port: number,
  requests: Requests,
): VirtualHost[] {
  const atPort = servicesAt(services, port, requests);
  const named = namedDomains(requests, port);
  const http = requests.to === 'service' ? httpRulesFor(rules, requests.host) : httpRules(rules);
  // On port 80 a VirtualService applies even if none of its hosts is a service.
  const governed = rulesForHosts(http, atPort, port === 80);
  const plans: Plan[] = [];
  for (const { rule, hosts, services: spokenFor } of governed) {
    const ofHttp = spokenFor.filter(isHttp);
    if (ofHttp.length === 0 && (port !== 80 || spokenFor.length > 0)) continue;
    const ofRule = (name: string, key: ResourceKey | undefined) => (domains: readonly string[]) =>
      ruledHost({ rule, node, rulesOf, port, serviceKey: key }, name, domains);
    for (const ruleHost of hosts) {
      if (requests.to === 'named-port' && services.has(ruleHost)) continue;
      const name = virtualHostName(ruleHost, port);
      const domains = named([domainOf(ruleHost)]);
      plans.push({ name, domains, short: [], make: ofRule(name, undefined) });
    }
    for (const portService of ofHttp) {
      const name = virtualHostName(portService.service.host, port);
      plans.push({
        name,
        ...domainsOf(portService, node, requests),
        make: ofRule(name, portService.service.key),
      });
    }
  }
  // A VirtualService without a route for this proxy makes no virtual host: the service then has its
  // own.
  for (const portService of atPort.values()) {
    if (!isHttp(portService)) continue;
    const name = virtualHostName(portService.service.host, port);
    plans.push({
      name,
      ...domainsOf(portService, node, requests),
      make: (domains) => plainHost(portService, rulesOf(portService.service.host), name, domains),
    });
  }
  const isFor = ({ name }: Plan): boolean =>
    requests.to !== 'service' || name === `${requests.host}:${port}`;
  return distinct(plans.filter(isFor), new Set(named([...atPort.keys()])));
}

/**
 * Returns a function that makes domains from names. If requests name the port, the domains have it
 * too.
 */
const namedDomains =
  ({ to }: Requests, port: number) =>
  (names: readonly string[]): readonly string[] =>
    to === 'named-port'
      ? [...(port === 80 ? names : []), ...names.map((name) => `${name}:${String(port)}`)]
      : names;

function servicesAt(
  services: ReadonlyMap<string, VisibleService>,
  number: number,
  requests: Requests,
): Map<string, PortService> {
  const portServices = new Map<string, PortService>();
  const called = requests.to === 'service' ? [services.get(requests.host)] : services.values();
  for (const service of called) {
    const port = service?.ports.find((servicePort) => servicePort.number === number);
    if (service !== undefined && port !== undefined)
      portServices.set(service.host, {
        service,
        port,
        address: service.addressesAt.get(number)?.at(-1) ?? '',
      });
  }
  return portServices;
}

const isHttp = ({ port }: PortService): boolean => listenerKindOf(port.protocol) !== 'tcp';

function domainsOf(
  { service, port, address }: PortService,
  node: ProxyNode,
  requests: Requests,
): Pick<Plan, 'domains' | 'short'> {
  if (requests.to === 'service') return { domains: ['*'], short: [] };
  const named = namedDomains(requests, port.number);
  const short = [service.host, ...service.aliases].flatMap((host) =>
    shortNames(host, node.dnsDomain),
  );
  const names = [domainOf(service.host), ...service.aliases, ...short];
  return {
    domains: named([
      ...names,
      ...(isHeadless(service) ? names.map((name) => `*.${name}`) : []),
      ...(address === '' || address === '0.0.0.0' ? [] : [domainOf(address)]),
    ]),
    short: named(short),
  };
}

/** Returns whether the endpoints of a service have their own names below its name. */
const isHeadless = ({ registry, resolution }: VisibleService): boolean =>
  registry === 'Service' && resolution === 'none';

/** Makes the virtual hosts. A name, and a domain, goes to the first plan that has it. */
function distinct(plans: readonly Plan[], serviceHosts: ReadonlySet<string>): VirtualHost[] {
  const names = new Set<string>();
  const usedDomains = new Set<string>();
  const hosts = plans.flatMap(({ name, domains, short, make }) => {
    if (names.has(name)) return [];
    const freeDomains = domains.filter(
      (domain) =>
        !usedDomains.has(domain.toLowerCase()) &&
        !(short.includes(domain) && serviceHosts.has(domain)),
    );
    if (freeDomains.length === 0) return [];
    const host = make(freeDomains);
    if (host === undefined) return [];
    names.add(name);
    for (const domain of freeDomains) usedDomains.add(domain.toLowerCase());
    return [host];
  });
  return hosts.sort(byName);
}

const ruledHosts = memoTable<VirtualHost | undefined>();

const plainHosts = memoTable<VirtualHost>();

/** A VirtualService for a proxy at a port. */
interface Ruled {
  readonly rule: Resource<'VirtualService'>;
  readonly node: ProxyNode;
  readonly rulesOf: RulesOf;
  readonly port: number;
  /** The key of the service to which it applies; undefined if its host is not a service. */
  readonly serviceKey: ResourceKey | undefined;
}

/**
 * Returns the virtual host of a VirtualService; undefined if none of its routes is for this proxy.
 */
function ruledHost(
  { rule, node, rulesOf, port, serviceKey }: Ruled,
  name: string,
  domains: readonly string[],
): VirtualHost | undefined {
  const hashing = hashingRules(rule, rulesOf);
  const used = hashing.filter((destinationRule) => destinationRule !== noRule);
  const caller = distinguishesCallers(rule)
    ? `${node.namespace} ${JSON.stringify(node.labels)}`
    : '';
  return ruledHosts([rule, ...hashing], JSON.stringify([name, domains, caller, serviceKey]), () => {
    const routes = routesOfVirtualService(
      rule,
      { ...node, gateway: 'mesh' },
      {
        port,
        scheme: 'http',
        portOf: () => port,
        hashPolicy: ({ host, subset, port: to }) => hashPolicyOf(rulesOf(host)?.spec, subset, to),
      },
    );
    if (routes.length === 0) return undefined;
    const keys = [
      keyOf(rule),
      ...(serviceKey === undefined ? [] : [serviceKey]),
      ...used.flatMap((destinationRule) => destinationRule.keys),
    ];
    return { name, body: encodedVirtualHost(name, domains, routes), keys };
  });
}

/** Returns the virtual host of a service for which no VirtualService has a route. */
function plainHost(
  { service, port }: PortService,
  rule: MatchedRule | undefined,
  name: string,
  domains: readonly string[],
): VirtualHost {
  const used = rule !== undefined && hashes(rule.spec) ? [rule] : [];
  return plainHosts([service, ...used], JSON.stringify([name, domains]), () => {
    const route: Init<typeof RouteSchema> = {
      name: 'default',
      match: { pathSpecifier: { case: 'prefix', value: '/' } },
      action: {
        case: 'route',
        value: plainForward(
          `outbound|${port.number}||${service.host}`,
          hashPolicyOf(used[0]?.spec, '', port.number),
        ),
      },
      decorator: { operation: `${service.host}:${port.number}/*` },
    };
    return {
      name,
      body: encodedVirtualHost(name, domains, [route]),
      keys: [service.key, ...used.flatMap((destinationRule) => destinationRule.keys)],
    };
  });
}
