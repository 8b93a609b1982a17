import type { Resource } from '../../istio/documents/model.ts';
import type { Environment, Service } from '../../environment/environment.ts';
import { portOf, trimmed } from './imported-services.ts';
import { byRegistry } from '../../environment/registries.ts';
import { memoTable } from './memo.ts';
import type { ScopeBlock } from './scope-block.ts';
import {
  isVisible,
  nearest,
  oldestFirst,
  type Services,
  type VisibleService,
} from './visible-services.ts';

type Rule = Resource<'VirtualService'>;

/**
 * Returns the services of all blocks, and the destinations of their VirtualServices with the ports
 * that these name. The first service of a host wins, and a later one adds its ports.
 */
export function withDestinations(
  blocks: readonly ScopeBlock[],
  services: Environment['services'],
  namespace: string,
): Services {
  const all = new Map<string, VisibleService>();
  const add = (service: VisibleService): void => {
    const earlier = all.get(service.host);
    all.set(service.host, earlier === undefined ? service : both(earlier, service));
  };
  for (const { egress, services: named, rules } of blocks) {
    for (const service of named.values()) add(service);
    const port = egress && portOf(egress);
    for (const rule of rules)
      for (const [host, ports] of destinationsOf(rule, namespace)) {
        const service = destinationAt(services.get(host) ?? [], namespace);
        const destination = service && withPorts(service, port === undefined ? ports : [port]);
        if (destination !== undefined) add(destination);
      }
  }
  return oldestFirst([...all.values()]);
}

/** The ports to which a VirtualService leads, by host; 0 for any. */
type Destinations = ReadonlyMap<string, readonly number[]>;

const destinations = memoTable<Destinations>();

/**
 * Returns where a VirtualService leads.
 *
 * @param namespace of the caller; all routes are used if it is left out
 */
export function destinationsOf(rule: Rule, namespace?: string): Destinations {
  return destinations([rule], JSON.stringify([namespace]), () => {
    const isTaken = ({ match }: (typeof rule.spec.http)[number]): boolean => {
      const namespacedMatches = match.filter(({ sourceNamespace }) => sourceNamespace !== '');
      return (
        namespace === undefined ||
        namespacedMatches.length === 0 ||
        namespacedMatches.some(({ sourceNamespace }) => sourceNamespace === namespace)
      );
    };
    const routes = [
      ...rule.spec.http.filter(isTaken).flatMap(({ route, mirrors }) => [...route, ...mirrors]),
      ...[...rule.spec.tls, ...rule.spec.tcp].flatMap(({ route }) => route),
    ];
    const portsByHost = new Map<string, readonly number[]>();
    for (const { destination } of routes)
      portsByHost.set(destination.host, [
        ...(portsByHost.get(destination.host) ?? []),
        destination.port,
      ]);
    return portsByHost;
  });
}

/**
 * Returns the service of the namespace, even if it is not exported there; else the visible service
 * of the first namespace.
 */
function destinationAt(entries: readonly Service[], namespace: string): VisibleService | undefined {
  const ownEntries = entries.filter((service) => service.namespace === namespace);
  if (ownEntries.length > 0) return nearest(ownEntries, namespace);
  const visible = entries.filter((service) =>
    isVisible(service.exportTo, service.namespace, namespace),
  );
  const [first = ''] = visible.map((service) => service.namespace).sort();
  return nearest(
    visible.filter((service) => service.namespace === first),
    first,
  );
}

/** Returns the service with some of its ports; undefined if it has none of them. */
function withPorts(
  service: VisibleService,
  numbers: readonly number[],
): VisibleService | undefined {
  if (numbers.includes(0)) return service;
  return service.ports.some(({ number }) => numbers.includes(number))
    ? trimmed(service, numbers, service.aliases)
    : undefined;
}

const merged = memoTable<VisibleService>();

function both(earlier: VisibleService, later: VisibleService): VisibleService {
  if (earlier.registry !== later.registry) return byRegistry(earlier, later) < 0 ? earlier : later;
  if (earlier.namespace !== later.namespace || earlier.resolution !== later.resolution)
    return earlier;
  const has = ({ ports }: VisibleService, number: number) =>
    ports.some((port) => port.number === number);
  const more = later.ports.filter(({ number }) => !has(earlier, number));
  if (more.length === 0) return earlier;
  if (earlier.key === later.key && earlier.ports.every(({ number }) => has(later, number)))
    return later;
  return merged([earlier, later], '', () => ({
    ...earlier,
    ports: [...earlier.ports, ...more],
    addressesAt: new Map([...later.addressesAt, ...earlier.addressesAt]),
    subjectAltNames: [...new Set([...earlier.subjectAltNames, ...later.subjectAltNames])],
    serviceAccounts: [...new Set([...earlier.serviceAccounts, ...later.serviceAccounts])],
  }));
}
