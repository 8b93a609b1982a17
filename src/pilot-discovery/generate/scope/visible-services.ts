import type { ExportTo } from '../../istio/fields/values.ts';
import type { Environment, Service } from '../../environment/environment.ts';
import { memoTable } from './memo.ts';
import type { ProxyNode } from './proxy-node.ts';
import { scopeOfServices } from './scope.ts';

/**
 * Returns whether a resource with this `exportTo` in one namespace is visible to another, or to
 * itself.
 */
export function isVisible(exportTo: ExportTo, from: string, to: string): boolean {
  return (
    exportTo.length === 0 ||
    exportTo.some(
      (namespace) => namespace === '*' || namespace === to || (namespace === '.' && from === to),
    )
  );
}

/** A service as a proxy sees it: merged from all of its entries. */
export interface VisibleService extends Service {
  /**
   * The addresses of the entries that have a port, by its number, in the order of the entries; ''
   * means an entry without an address.
   */
  readonly addressesAt: ReadonlyMap<number, readonly string[]>;
}

/** By host. */
export type Services = ReadonlyMap<string, VisibleService>;

/**
 * Returns the services visible to a proxy, one for each host, oldest first. The service of a host
 * is that of the proxy's own namespace, else the first: a Service of Kubernetes, else the oldest.
 * Entries of one namespace for a host that have the same resolution are one service, with the
 * ports, the addresses and the names in certificates of all entries. Returns the same object as
 * long as the services are the same.
 */
export function visibleServices(
  { services }: Environment,
  { namespace }: Pick<ProxyNode, 'namespace'>,
): Services {
  return servicesByScope([services], scopeOfServices({ services }, namespace), () => {
    const visible = [...services.values()].flatMap(
      (entries) => serviceFor(entries, namespace) ?? [],
    );
    return oldestFirst(visible);
  });
}

/** Returns services by host, the oldest first. */
export const oldestFirst = (services: readonly VisibleService[]): Services =>
  new Map([...services].sort(byAge).map((service) => [service.host, service]));

const servicesByScope = memoTable<Services>();
const serviceByNamespace = memoTable<VisibleService | undefined>();

function serviceFor(entries: readonly Service[], namespace: string): VisibleService | undefined {
  return serviceByNamespace([entries], namespace, () => {
    const visible = entries.filter((service) =>
      isVisible(service.exportTo, service.namespace, namespace),
    );
    return nearest(visible, namespace);
  });
}

/** Joins the entries of a host in a namespace; else those in the namespace of the oldest one. */
export function nearest(
  entries: readonly Service[],
  namespace: string,
): VisibleService | undefined {
  const first = entries.find((service) => service.namespace === namespace) ?? entries[0];
  if (first === undefined) return undefined;
  return joined(
    entries.filter(
      (entry) => entry.namespace === first.namespace && entry.resolution === first.resolution,
    ),
  );
}

const joinedServices = memoTable<VisibleService | undefined>();

/** Returns the same object for each namespace that sees the same entries. */
const joined = (parts: readonly Service[]): VisibleService | undefined =>
  joinedServices(parts, '', () => joinedOnce(parts));

function joinedOnce(parts: readonly Service[]): VisibleService | undefined {
  const [first] = parts;
  if (first === undefined) return undefined;
  const ports = new Map(
    parts
      .flatMap((part) => part.ports)
      .reverse()
      .map((port) => [port.number, port]),
  );
  const addressesAt = new Map(
    [...ports.keys()].map((number) => [number, addressesOf(parts, number)]),
  );
  const subjectAltNames = [...new Set(parts.flatMap((part) => part.subjectAltNames))];
  const serviceAccounts = [...new Set(parts.flatMap((part) => part.serviceAccounts))];
  return {
    ...first,
    serviceAccounts,
    ports: [...ports.values()].reverse(),
    subjectAltNames,
    addressesAt,
  };
}

function addressesOf(parts: readonly Service[], number: number): readonly string[] {
  const having = parts.filter(({ ports }) => ports.some((port) => port.number === number));
  return [
    ...new Set(having.flatMap(({ addresses }) => (addresses.length === 0 ? [''] : addresses))),
  ];
}

function byAge(a: Service, b: Service): number {
  return (
    a.createdMs - b.createdMs || compare(`${a.host}.${a.namespace}`, `${b.host}.${b.namespace}`)
  );
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
