import type { Egress } from '../../istio/workloads/sidecar.ts';
import type { Environment, Service } from '../../environment/environment.ts';
import type { EgressHosts } from './egress-hosts.ts';
import { memoTable } from './memo.ts';
import {
  isVisible,
  nearest,
  oldestFirst,
  type Services,
  type VisibleService,
} from './visible-services.ts';

/** Returns the services that a block of a Sidecar names, with the port that the block is for. */
export function importedServices(
  services: Environment['services'],
  hosts: EgressHosts,
  egress: Egress,
  namespace: string,
): Services {
  const port = portOf(egress);
  const names = hosts.exact ?? services.keys();
  return oldestFirst(
    [...names].flatMap((host) => {
      const entries = services.get(host);
      return entries === undefined ? [] : (imported(entries, hosts, port, namespace) ?? []);
    }),
  );
}

/** Returns the port that services must have; undefined if the block takes any. */
export const portOf = (egress: Egress): number | undefined =>
  isForAllPorts(egress) ? undefined : egress.port?.number;

/** Returns whether a block has one listener for all ports of its services. */
export const isForAllPorts = ({ port }: Egress): boolean =>
  port !== undefined && (port.number === 0 || port.protocol === 'http-proxy');

/** Returns the name of the routes of a block with one listener for all ports of its services. */
export const allPortsName = ({ port, bind }: Egress): string =>
  port === undefined || port.number === 0 ? bind : String(port.number);

function imported(
  entries: readonly Service[],
  hosts: EgressHosts,
  port: number | undefined,
  namespace: string,
): VisibleService | undefined {
  const service = nearest(
    entries.filter(
      (entry) =>
        isVisible(entry.exportTo, entry.namespace, namespace) &&
        hosts.hostsFor(entry.namespace).some(({ hasService }) => hasService(entry.host)) &&
        (port === undefined || entry.ports.some(({ number }) => number === port)),
    ),
    namespace,
  );
  const named =
    service && hosts.hostsFor(service.namespace).find(({ hasService }) => hasService(service.host));
  return (
    named &&
    trimmed(
      service,
      port === undefined ? undefined : [port],
      service.aliases.filter((alias) => named.hasService(alias)),
    )
  );
}

const trimmedServices = memoTable<VisibleService>();

/**
 * Returns a service with some of its ports and aliases; the same object if these are all its ports
 * and aliases.
 *
 * @param numbers undefined for all
 */
export function trimmed(
  service: VisibleService,
  numbers: readonly number[] | undefined,
  aliases: readonly string[],
): VisibleService {
  const ports = service.ports.filter(({ number }) => numbers?.includes(number) ?? true);
  if (ports.length === service.ports.length && aliases.length === service.aliases.length)
    return service;
  const text = JSON.stringify([ports.map(({ number }) => number), aliases]);
  return trimmedServices([service], text, () => ({ ...service, ports, aliases }));
}
