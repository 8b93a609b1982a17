import type { Resource } from '../istio/documents/model.ts';
import type { GatewayServer } from '../istio/workloads/gateway.ts';
import { type Check, finding } from './facts.ts';

interface Served {
  readonly gateway: Resource<'Gateway'>;
  readonly server: GatewayServer;
  readonly index: number;
}

/** Finds Gateways with the same selector that have the same host at the same port. */
export const checkGatewayConflicts: Check = function* ({ gateways }) {
  const served = new Map<string, Served>();
  for (const gateway of gateways)
    for (const [index, server] of gateway.spec.servers.entries())
      for (const { namespace, host } of server.hosts) {
        const selector = Object.entries(gateway.spec.selector ?? {}).sort();
        const { bind, port } = server;
        const place = JSON.stringify([selector, bind, port.number, namespace, host]);
        const before = served.get(place);
        if (before === undefined) served.set(place, { gateway, server, index });
        else if (before.gateway !== gateway)
          yield finding(
            'IST0145',
            gateway,
            `spec.servers[${index}]`,
            `${before.gateway.namespace}/${before.gateway.name} has ${host} at port ${port.number} of the same proxies: give one of them another host or port`,
          );
      }
};
