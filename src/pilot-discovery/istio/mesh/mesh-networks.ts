/** A gateway through which endpoints of its network are reached from other networks. */
export interface NetworkGateway {
  readonly network: string;
  /** An IP address. */
  readonly address: string;
  readonly port: number;
  readonly declaredBy: 'MeshNetworks' | 'Service';
}

/** A Service of Kubernetes that is a gateway of a network, at its external addresses. */
export interface GatewayService {
  readonly network: string;
  readonly host: string;
  readonly port: number;
}

/** The endpoints of Kubernetes that are in a network, if they name none. */
export interface NetworkRange {
  readonly network: string;
  /** A range such as 10.0.0.0/8, or all endpoints of the cluster. */
  readonly selects: { readonly range: string } | 'cluster';
}

/**
 * The networks of a mesh. An endpoint of another network is reached through the gateways of that
 * network, if it has any:
 * https://istio.io/v1.26/docs/reference/config/istio.mesh.v1alpha1/#MeshNetworks
 */
export interface MeshNetworks {
  /** By network, then by address and port. */
  readonly gateways: readonly NetworkGateway[];
  readonly ranges: readonly NetworkRange[];
  /** By network. */
  readonly services: readonly GatewayService[];
}

/** Compares two gateways by address, then by port. Pure. */
export function byAddress(a: NetworkGateway, b: NetworkGateway): number {
  if (a.address !== b.address) return a.address < b.address ? -1 : 1;
  return a.port - b.port;
}

/** Compares two gateways by network, then by address and port. Pure. */
export function compareGateways(a: NetworkGateway, b: NetworkGateway): number {
  if (a.network !== b.network) return a.network < b.network ? -1 : 1;
  return byAddress(a, b);
}

export const noNetworks: MeshNetworks = { gateways: [], ranges: [], services: [] };
