import type { ServicePort } from '../mesh/service-entry.ts';
import { serviceKey, type Endpoint, type Environment, type Service } from '../snapshot/environment.ts';
import type { ProxyNode } from './proxy-node.ts';

/** A port that the workload of a proxy serves. */
export interface OwnPort {
  readonly service: Service;
  readonly port: ServicePort;
  readonly endpoint: Endpoint;
}

/**
 * What is served at the addresses of a proxy, of whichever namespace, one for each port of the
 * workload: of several the oldest. Sorted by port.
 */
export function ownPorts({ services, endpoints }: Environment, { addresses }: ProxyNode): OwnPort[] {
  const own = [...services.values()].flat().flatMap((service): OwnPort[] => {
    const byPort = endpoints.get(serviceKey(service));
    if (byPort === undefined) return [];
    return service.ports.flatMap((port) => {
      const endpoint = byPort.get(port.number)?.find(({ address }) => addresses.includes(address));
      return endpoint === undefined ? [] : [{ service, port, endpoint }];
    });
  });
  own.sort(
    (a, b) => a.service.createdMs - b.service.createdMs || compare(a.service.key, b.service.key) || compare(a.service.host, b.service.host),
  );
  const first = new Map<number, OwnPort>();
  for (const one of own) if (!first.has(one.endpoint.port)) first.set(one.endpoint.port, one);
  return [...first.values()].sort((a, b) => a.endpoint.port - b.endpoint.port);
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
