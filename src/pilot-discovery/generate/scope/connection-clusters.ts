import type { ConnectionDestination } from '../../istio/traffic/virtual-service.ts';
import { outboundName } from './cluster-name.ts';
import { destinationPort } from './destination-port.ts';
import type { Services } from './visible-services.ts';

/** A cluster that connections are forwarded to without HTTP. */
export interface ConnectionCluster {
  readonly cluster: string;
  readonly host: string;
  /** '' for the whole service. */
  readonly subset: string;
  readonly port: number;
  readonly weight: number;
}

/**
 * Returns the clusters of a route for connections.
 *
 * @param listenerPort the port of a destination that names none and has several
 */
export const connectionClusters = (
  services: Services,
  route: readonly ConnectionDestination[],
  listenerPort: number,
): readonly ConnectionCluster[] =>
  route.map(({ destination: { host, subset, port: number }, weight }) => {
    const port = number === 0 ? destinationPort(services, host, listenerPort) : number;
    return { cluster: outboundName({ host, subset, port }), host, subset, port, weight };
  });
