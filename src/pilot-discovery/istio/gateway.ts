import type { TlsVersion } from './sidecar.ts';
import type { Protocol, Selector } from './values.ts';

/** https://istio.io/v1.26/docs/reference/config/networking/gateway/ */
export interface Gateway {
  /** Labels of the proxies that it is for; undefined for all. */
  readonly selector: Selector;
  readonly servers: readonly GatewayServer[];
}

/** What a gateway takes at one port, for some hosts. */
export interface GatewayServer {
  readonly port: GatewayPort;
  /** An IP address; '' for all of the proxy. */
  readonly bind: string;
  readonly hosts: readonly GatewayHost[];
  readonly tls: ServerTls;
}

export interface GatewayPort {
  readonly number: number;
  readonly name: string;
  readonly protocol: Exclude<Protocol, 'auto' | 'udp'>;
}

/** A host, and the namespace whose VirtualServices may speak for it: `*` for any. */
export interface GatewayHost {
  readonly namespace: string;
  /** May begin with `*`, and may be `*`. */
  readonly host: string;
}

/** What becomes of the TLS of a client. */
export type ServerTls =
  /** `redirect`: a client is sent to HTTPS. */
  | { readonly mode: 'plain' | 'redirect' }
  /** It is handed on as it is. */
  | { readonly mode: 'passthrough' | 'auto-passthrough' }
  | TerminatedTls
  /** It is wrong as it is written, so nothing is served for the hosts. */
  | { readonly mode: 'closed' };

/** TLS that ends at the gateway. */
export interface TerminatedTls {
  readonly mode: 'simple' | 'mutual' | 'optional-mutual' | 'istio-mutual';
  readonly certificate: ServerCertificate;
  readonly minimum: TlsVersion;
  readonly maximum: TlsVersion;
  /** Empty for those of Envoy. */
  readonly cipherSuites: readonly string[];
  /** What a client's certificate is checked by, beside roots; nothing with mode `simple`. */
  readonly client: {
    readonly subjectAltNames: readonly string[];
    /** SHA-256 of certificates, in hex. */
    readonly hashes: readonly string[];
    /** SHA-256 of public keys, in base64. */
    readonly keyHashes: readonly string[];
    readonly crl: string;
  };
}

/** Where the certificate of a server comes from. */
export type ServerCertificate =
  | { readonly type: 'workload' }
  /** A secret of the gateway's agent; its roots are those of `NAME-cacert`. */
  | { readonly type: 'credential'; readonly name: string }
  | {
      readonly type: 'files';
      readonly chain: string;
      readonly key: string;
      /** '' where no client is checked. */
      readonly roots: string;
    };
