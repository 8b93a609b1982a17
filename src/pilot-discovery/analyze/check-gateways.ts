import type { Resource } from '../istio/model.ts';
import type { GatewayServer } from '../istio/gateway.ts';
import { selects } from '../generate/scope/peer-authentication-of.ts';
import { type Check, finding, labelText } from './facts.ts';

interface Served {
  readonly gateway: Resource<'Gateway'>;
  readonly server: GatewayServer;
  readonly index: number;
}

/** Two Gateways with one selector that have the same host at the same port. */
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

/**
 * Gateways whose labels no workload has. A proxy has labels by its own metadata too, so this looks
 * at resources that name workloads only if there are any.
 */
export const checkGatewayWorkloads: Check = function* ({ gateways, environment }) {
  const { workloadEntries } = environment;
  const workloads = [...workloadEntries.values()].map(({ spec }) => spec.labels);
  if (workloads.length === 0) return;
  for (const gateway of gateways) {
    const selector = gateway.spec.selector ?? {};
    if (workloads.some((labels) => selects(selector, labels))) continue;
    yield finding(
      'IST0127',
      gateway,
      'spec.selector',
      `no workload has the labels ${labelText(selector)}`,
    );
  }
};
