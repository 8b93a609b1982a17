import type { Json } from './proto-json.ts';
import type { ProxyConfig } from '../config/proxy-config.ts';
import type { SubjectAltName } from './control-plane-identity.ts';

/** The agent's secret discovery server. */
export interface SdsInputs {
  /** A Unix socket. */
  readonly socket: string;
  /** `pushed`: Envoy's own certificate comes from there; `offered`: it is in files. */
  readonly delivery: 'offered' | 'pushed';
  /** The file of the token by which the workload proves who it is; undefined if there is none. */
  readonly token: string | undefined;
  /** The file of the CA that vouches for the control plane. */
  readonly root: string;
}

/** All that a bootstrap is made of. */
export interface BootstrapInputs {
  readonly config: ProxyConfig;
  /** `role~ip~id~domain`. */
  readonly serviceNode: string;
  /** The node has no IPv4 address. */
  readonly ipv6: boolean;
  /** Of the node. */
  readonly addresses: readonly string[];
  readonly metadata: NodeMetadata;
  /** Empty where it is not known. */
  readonly locality: { readonly region: string; readonly zone: string; readonly subZone: string };
  /** Whom the control plane may prove to be under `MUTUAL_TLS`. */
  readonly sans: readonly SubjectAltName[];
  /**
   * Files for `MUTUAL_TLS`: certificate chain and key of this proxy, and the CA of the control
   * plane.
   */
  readonly controlPlaneTls: { readonly chain: string; readonly key: string; readonly root: string };
  /** Undefined where there is none. */
  readonly sds: SdsInputs | undefined;
  /** The Unix socket of the xDS proxy; undefined where Envoy asks the control plane itself. */
  readonly xdsSocket: string | undefined;
  /** In bytes, for the agent and all its Envoys; undefined where nothing limits them. */
  readonly memoryLimit: number | undefined;
  /** What is laid over the bootstrap has an overload manager of its own. */
  readonly hasOverloadManager: boolean;
  /** Envoy asks for what has changed alone. */
  readonly deltaXds: boolean;
  /** Where Envoy's statistics are offered to Prometheus; 0 = nowhere. */
  readonly prometheusPort: number;
  /** Where Envoy passes readiness probes on to the status port; 0 = nowhere. */
  readonly healthPort: number;
  /** Empty for none. */
  readonly outlierLogPath: string;
  /** Of the token exchange on this machine; 0 = none. */
  readonly stsPort: number;
}

/** What the control plane is told of this node, as JSON. */
export type NodeMetadata = Readonly<Record<string, Json>>;
