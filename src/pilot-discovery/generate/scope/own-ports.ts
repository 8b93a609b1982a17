import type { ServicePort } from '../../istio/hosts/service-entry.ts';
import {
  hostOf,
  serviceKey,
  type Endpoint,
  type Environment,
  type Service,
} from '../../environment/environment.ts';
import { entriesBy } from '../../environment/grouped.ts';
import type { ProxyNode } from './proxy-node.ts';

/** A port that the workload of a proxy serves. */
export interface OwnPort {
  readonly service: Service;
  readonly port: ServicePort;
  readonly endpoint: Endpoint;
  /** All services that have an endpoint there and the same port number, `service` among them. */
  readonly services: readonly Service[];
}

/** A port of a service, with one of its endpoints. */
export type Served = Omit<OwnPort, 'services'>;

/**
 * Returns the ports that services of its own namespace have at the addresses of a proxy. Each port
 * of the workload has one service; if there are several, the oldest. Sorted by port.
 */
export function ownPorts(
  environment: Environment,
  { addresses, namespace }: Pick<ProxyNode, 'addresses' | 'namespace'>,
): OwnPort[] {
  const servedPorts = [...new Set(addresses)]
    .flatMap((address) => [...servedAt(environment, address)])
    .filter(({ service }) => service.namespace === namespace);
  servedPorts.sort(
    (a, b) =>
      a.service.createdMs - b.service.createdMs ||
      compare(a.service.key, b.service.key) ||
      compare(a.service.host, b.service.host),
  );
  const byPort = new Map<number, Served[]>();
  for (const servedPort of servedPorts)
    byPort.set(servedPort.endpoint.port, [
      ...(byPort.get(servedPort.endpoint.port) ?? []),
      servedPort,
    ]);
  return [...byPort.values()]
    .flatMap((same): OwnPort[] =>
      same.slice(0, 1).map((first) => ({ ...first, services: alike(first, same) })),
    )
    .sort((a, b) => a.endpoint.port - b.endpoint.port);
}

/** Returns the inputs of ports. The same inputs, one by one, give the same ports. */
export const partsOfPorts = (ports: readonly OwnPort[]): readonly object[] =>
  ports.flatMap(({ service, port, endpoint, services }) => [service, port, endpoint, ...services]);

const alike = (first: Served, same: readonly Served[]): readonly Service[] => [
  ...new Set(
    same.filter(({ port }) => port.number === first.port.number).map(({ service }) => service),
  ),
];

/** Yields everything that is served at an address. */
export function* servedAt(
  { services, endpoints, served }: Pick<Environment, 'services' | 'endpoints' | 'served'>,
  address: string,
): Generator<Served, undefined> {
  for (const key of new Set(entriesBy(served, address)))
    for (const service of services.get(hostOf(key)) ?? []) {
      if (serviceKey(service) !== key) continue;
      for (const port of service.ports)
        for (const endpoint of endpoints.get(key)?.get(port.number) ?? [])
          if (endpoint.address === address) yield { service, port, endpoint };
    }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
