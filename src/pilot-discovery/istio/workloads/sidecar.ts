import type { ConnectionPool } from '../traffic/destination-rule.ts';
import type { Protocol, Selector } from '../fields/values.ts';
import type { ServicePort } from '../hosts/service-entry.ts';
import type { Destination } from '../traffic/virtual-service.ts';

/** https://istio.io/v1.26/docs/reference/config/networking/sidecar/ */
export interface Sidecar {
  readonly workloadSelector: Selector;
  readonly ingress: readonly Ingress[];
  /** Empty if everything is visible. Only the last block may be for all ports. */
  readonly egress: readonly Egress[];
  /** For connections to the application, except at ports with their own pool. */
  readonly inboundConnectionPool: ConnectionPool | undefined;
  /** Undefined if the mesh's policy applies. */
  readonly outboundTrafficPolicy: OutboundPolicy | undefined;
}

/**
 * Traffic whose destination no resource names goes to its original destination, nowhere, or to a
 * proxy for such traffic.
 */
export type OutboundPolicy = 'allow-any' | 'registry-only' | EgressProxy;

interface EgressProxy {
  readonly egressProxy: Destination;
}

/** A block of `egress`: which hosts the application may call, and at which address. */
export interface Egress {
  readonly hosts: readonly EgressHost[];
  /** Undefined if the block is for all ports that no other block has. */
  readonly port: EgressPort | undefined;
  /** An IP address, `unix:///path`, or `unix://@name`; '' if it is not given. */
  readonly bind: string;
  readonly captureMode: 'default' | 'iptables' | 'none';
}

export interface EgressHost {
  /** A name; `*` is any namespace, `.` the namespace of the proxy, and `~` no namespace. */
  readonly namespace: string;
  /** `*` for all; it may begin with `*.`. */
  readonly host: string;
}

export interface EgressPort {
  /** 0 for a Unix socket. */
  readonly number: number;
  /** With `http-proxy` a request names the port that it is for. */
  readonly protocol: Protocol | 'http-proxy';
}

export interface Ingress {
  readonly port: ServicePort;
  /** '' if it is not given. */
  readonly bind: string;
  readonly captureMode: 'default' | 'iptables' | 'none';
  /** `127.0.0.1:8080`, `0.0.0.0:8080`, `[::1]:8080`, `unix:///path`. */
  readonly defaultEndpoint: string;
  readonly connectionPool: ConnectionPool | undefined;
  /** `closed`: the setting cannot be served, so connections to the port are refused. */
  readonly tls: IngressTls | 'closed' | undefined;
}

/** TLS for clients outside the mesh, with certificates in files that the agent reads. */
export interface IngressTls {
  readonly mode: 'simple' | 'mutual';
  readonly serverCertificate: string;
  readonly privateKey: string;
  readonly caCertificates: string;
  readonly caCrl: string;
  /**
   * SHA-256 of client certificates, in hex; empty for any certificate that the roots have signed.
   */
  readonly verifyCertificateHash: readonly string[];
  readonly minimum: TlsVersion;
  readonly maximum: TlsVersion;
  readonly cipherSuites: readonly string[];
}

export type TlsVersion = 'auto' | '1.0' | '1.1' | '1.2' | '1.3';
