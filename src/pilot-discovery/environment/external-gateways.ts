import { ownMember } from '../../shared/text/own-member.ts';
import type { Resource } from '../istio/documents/model.ts';
import {
  compareGateways,
  type MeshNetworks,
  type NetworkGateway,
} from '../istio/mesh/mesh-networks.ts';
import { networkIn } from '../istio/fields/network-label.ts';
import type { Environment } from './environment.ts';
import { kubernetesHost } from './kubernetes-host.ts';
import type { Touched } from './touched.ts';

/** The port of Istio for traffic from other networks. */
const defaultPort = 15_443;

type Services = Environment['externalServices'];

/** Returns the Services that have addresses outside of the cluster, after changes. */
export function externalServicesAfter(
  before: Services,
  touched: readonly Touched<'Service'>[],
): Services {
  const isExternal = (service: Resource<'Service'> | undefined): boolean =>
    service !== undefined && service.spec.external.length > 0;
  const edits = touched
    .filter(({ before: old, after }) => isExternal(old) || isExternal(after))
    .map(({ key, after }) => [key, isExternal(after) ? after : undefined] as const);
  return edits.length === 0 ? before : before.with(edits);
}

/**
 * Returns the networks of the mesh with the gateways that are Services: those with the label of a
 * network, and those that MeshNetworks names. Returns the same object if no gateway is a Service.
 * Pure.
 */
export function withExternalGateways(
  networks: MeshNetworks,
  services: Services,
  domain: string,
): MeshNetworks {
  const added = [...services.values()].flatMap((service) =>
    gatewaysOf(service, networks.services, domain),
  );
  if (added.length === 0) return networks;
  const all = new Map(
    [...added, ...networks.gateways].map((gateway) => [keyOfGateway(gateway), gateway]),
  );
  const gateways = [...all.values()].sort(compareGateways);
  return { ...networks, gateways };
}

const keyOfGateway = ({ network, address, port }: NetworkGateway): string =>
  JSON.stringify([network, address, port]);

/** As in istiod, the label of a Service takes precedence over MeshNetworks. */
function gatewaysOf(
  { name, namespace, labels, spec }: Resource<'Service'>,
  named: MeshNetworks['services'],
  domain: string,
): readonly NetworkGateway[] {
  const network = networkIn(labels);
  const host = kubernetesHost(name, namespace, domain);
  const ports =
    network === ''
      ? named.filter((service) => service.host === host)
      : [{ network, port: portOf(ownMember(labels, 'networking.istio.io/gatewayPort')) }];
  return ports.flatMap((gateway) =>
    spec.external.map((address) => ({
      ...{ network: gateway.network, address, port: gateway.port },
      declaredBy: 'Service' as const,
    })),
  );
}

function portOf(text: string | undefined): number {
  const port = /^\d{1,5}$/.test(text ?? '') ? Number(text) : 0;
  return port >= 1 && port <= 65_535 ? port : defaultPort;
}
