import type { TlsVersion } from './sidecar.ts';
import type { Protocol, Selector } from '../fields/values.ts';

/** https://istio.io/v1.26/docs/reference/config/networking/gateway/ */
export interface Gateway {
  /** The labels of its proxies; undefined for all proxies. */
  readonly selector: Selector;
  readonly servers: readonly GatewayServer[];
}

/** The hosts that a gateway serves at one port. */
export interface GatewayServer {
  readonly port: GatewayPort;
  /** An IP address; '' for all addresses of the proxy. */
  readonly bind: string;
  readonly hosts: readonly GatewayHost[];
  readonly tls: ServerTls;
}

export interface GatewayPort {
  readonly number: number;
  readonly name: string;
  readonly protocol: Exclude<Protocol, 'auto' | 'udp'>;
}

/** A host, and the namespace of its VirtualServices: `*` for any. */
export interface GatewayHost {
  readonly namespace: string;
  /** It may begin with `*`, or be `*`. */
  readonly host: string;
}

/** How a gateway treats a client's TLS. */
export type ServerTls =
  /** `redirect`: clients are redirected to HTTPS. */
  | { readonly mode: 'plain' | 'redirect' }
  /** TLS is passed on unchanged. */
  | { readonly mode: 'passthrough' | 'auto-passthrough' }
  | TerminatedTls
  /** The setting is wrong, so the hosts are not served. */
  | { readonly mode: 'closed' };

/** TLS that ends at the gateway. */
export interface TerminatedTls {
  readonly mode: 'simple' | 'mutual' | 'optional-mutual' | 'istio-mutual';
  readonly certificate: ServerCertificate;
  readonly minimum: TlsVersion;
  readonly maximum: TlsVersion;
  /** Empty for Envoy's defaults. */
  readonly cipherSuites: readonly string[];
  /** Checks of a client's certificate, in addition to roots; none with mode `simple`. */
  readonly client: {
    readonly subjectAltNames: readonly string[];
    /** SHA-256 of certificates, in hex. */
    readonly hashes: readonly string[];
    /** SHA-256 of public keys, in base64. */
    readonly keyHashes: readonly string[];
    readonly crl: string;
  };
}

/** The origin of a server's certificate. */
export type ServerCertificate =
  | { readonly type: 'workload' }
  /** A secret of Kubernetes, or of the gateway's agent. Its roots are the secret `NAME-cacert`. */
  | { readonly type: 'credential'; readonly name: string }
  | {
      readonly type: 'files';
      readonly chain: string;
      readonly key: string;
      /** '' if clients are not checked. */
      readonly roots: string;
    };
