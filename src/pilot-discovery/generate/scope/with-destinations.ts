import type { Resource } from '../../istio/model.ts';
import type { Environment, Service } from '../../environment/environment.ts';
import { portOf, trimmed } from './imported-services.ts';
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
 * that these name. The first service of a host counts, and a later one adds its ports.
 */
export function withDestinations(
  blocks: readonly ScopeBlock[],
  services: Environment['services'],
  namespace: string,
): Services {
  const all = new Map<string, VisibleService>();
  const add = (service: VisibleService): void => {
    const known = all.get(service.host);
    all.set(service.host, known === undefined ? service : both(known, service));
  };
  for (const { egress, services: named, rules } of blocks) {
    for (const service of named.values()) add(service);
    const port = egress && portOf(egress);
    for (const rule of rules)
      for (const [host, ports] of destinationsOf(rule, namespace)) {
        const service = destinationAt(services.get(host) ?? [], namespace);
        const its = service && withPorts(service, port === undefined ? ports : [port]);
        if (its !== undefined) add(its);
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
 * @param namespace of the caller; all routes count if it is left out
 */
export function destinationsOf(rule: Rule, namespace?: string): Destinations {
  return destinations([rule], JSON.stringify([namespace]), () => {
    const isTaken = ({ match }: (typeof rule.spec.http)[number]): boolean => {
      const told = match.filter(({ sourceNamespace }) => sourceNamespace !== '');
      return (
        namespace === undefined ||
        told.length === 0 ||
        told.some(({ sourceNamespace }) => sourceNamespace === namespace)
      );
    };
    const routes = [
      ...rule.spec.http.filter(isTaken).flatMap(({ route, mirrors }) => [...route, ...mirrors]),
      ...[...rule.spec.tls, ...rule.spec.tcp].flatMap(({ route }) => route),
    ];
    const found = new Map<string, readonly number[]>();
    for (const { destination } of routes)
      found.set(destination.host, [...(found.get(destination.host) ?? []), destination.port]);
    return found;
  });
}

/**
 * Returns the service of the namespace, even if it is not exported there; else the visible service
 * of the first namespace.
 */
function destinationAt(same: readonly Service[], namespace: string): VisibleService | undefined {
  const own = same.filter((service) => service.namespace === namespace);
  if (own.length > 0) return nearest(own, namespace);
  const seen = same.filter((service) => isVisible(service.exportTo, service.namespace, namespace));
  const [first = ''] = seen.map((service) => service.namespace).sort();
  return nearest(
    seen.filter((service) => service.namespace === first),
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

function both(one: VisibleService, other: VisibleService): VisibleService {
  if (one.registry !== other.registry) return one.registry === 'Service' ? one : other;
  if (one.namespace !== other.namespace || one.resolution !== other.resolution) return one;
  const has = ({ ports }: VisibleService, number: number) =>
    ports.some((port) => port.number === number);
  const more = other.ports.filter(({ number }) => !has(one, number));
  if (more.length === 0) return one;
  if (one.key === other.key && one.ports.every(({ number }) => has(other, number))) return other;
  return merged([one, other], '', () => ({
    ...one,
    ports: [...one.ports, ...more],
    addressesAt: new Map([...other.addressesAt, ...one.addressesAt]),
    subjectAltNames: [...new Set([...one.subjectAltNames, ...other.subjectAltNames])],
  }));
}
