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
  /** `closed`: it cannot be served as it is written, so connections to the port are refused. */
  readonly tls: IngressTls | 'closed' | undefined;
}

/** TLS for clients outside of the mesh, with certificates in files that the agent reads. */
export interface IngressTls {
  readonly mode: 'simple' | 'mutual';
  readonly serverCertificate: string;
  readonly privateKey: string;
  readonly caCertificates: string;
  readonly caCrl: string;
  /** SHA-256 of client certificates, in hex; empty for any that the roots have signed. */
  readonly verifyCertificateHash: readonly string[];
  readonly minimum: TlsVersion;
  readonly maximum: TlsVersion;
  readonly cipherSuites: readonly string[];
}

export type TlsVersion = 'auto' | '1.0' | '1.1' | '1.2' | '1.3';
