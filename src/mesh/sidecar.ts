import type { ConnectionPool } from './destination-rule.ts';
import type { Selector } from './values.ts';
import type { ServicePort } from './service-entry.ts';

/** https://istio.io/v1.26/docs/reference/config/networking/sidecar/; of `egress` nothing yet. */
export interface Sidecar {
  readonly workloadSelector: Selector;
  readonly ingress: readonly Ingress[];
  /** For connections to the application, but for ports with one of their own. */
  readonly inboundConnectionPool: ConnectionPool | undefined;
  /** Undefined where it is that of the mesh. */
  readonly outboundTrafficPolicy: 'allow-any' | 'registry-only' | undefined;
}

export interface Ingress {
  readonly port: ServicePort;
  /** '' where it is not said. */
  readonly bind: string;
  readonly captureMode: 'default' | 'iptables' | 'none';
  /** `127.0.0.1:8080`, `0.0.0.0:8080`, `[::1]:8080`, `unix:///path`. */
  readonly defaultEndpoint: string;
  readonly connectionPool: ConnectionPool | undefined;
}
