import type { Json } from './proto-json.ts';
import type { ProxyConfig } from '../config/proxy-config.ts';
import type { SubjectAltName } from './control-plane-identity.ts';

/** The agent's secret discovery server. */
export interface SdsInputs {
  /** The path of a Unix socket. */
  readonly socket: string;
  /** `pushed`: Envoy gets its own certificate from this server; `offered`: from files. */
  readonly delivery: 'offered' | 'pushed';
  /** The file of the token that proves the workload's identity; undefined if there is none. */
  readonly token: string | undefined;
  /** The file of the CA that vouches for the control plane. */
  readonly root: string;
  /** Whether it has the secrets of gateways, so that the control plane need not have them. */
  readonly gateway: 'served' | 'not-served';
}

/** Everything that a bootstrap is made from. */
export interface BootstrapInputs {
  readonly config: ProxyConfig;
  /** `role~ip~id~domain`. */
  readonly serviceNode: string;
  /** The node has no IPv4 address. */
  readonly ipv6: boolean;
  /** The IP addresses of the node. */
  readonly addresses: readonly string[];
  readonly metadata: NodeMetadata;
  /** Each text is empty if it is not known. */
  readonly locality: { readonly region: string; readonly zone: string; readonly subZone: string };
  /** The names that the control plane may prove under `MUTUAL_TLS`. */
  readonly sans: readonly SubjectAltName[];
  /**
   * Files for `MUTUAL_TLS`: the certificate chain and the key of this proxy, and the CA of the
   * control plane.
   */
  readonly controlPlaneTls: { readonly chain: string; readonly key: string; readonly root: string };
  /** Undefined if no such server runs. */
  readonly sds: SdsInputs | undefined;
  /** The Unix socket of the xDS proxy; undefined if Envoy asks the control plane directly. */
  readonly xdsSocket: string | undefined;
  /** In bytes, for the agent and all its Envoys; undefined if nothing limits them. */
  readonly memoryLimit: number | undefined;
  /** The user's override of the bootstrap has its own overload manager. */
  readonly hasOverloadManager: boolean;
  /** Envoy uses delta xDS: it gets only the resources that changed. */
  readonly deltaXds: boolean;
  /** The port that serves Envoy's statistics to Prometheus; 0 = none. */
  readonly prometheusPort: number;
  /** The port on which Envoy forwards readiness probes to the status port; 0 = none. */
  readonly healthPort: number;
  /** Empty for no log. */
  readonly outlierLogPath: string;
  /** The port of the token exchange on this machine; 0 = none. */
  readonly stsPort: number;
}

/** The node metadata that the control plane gets, as JSON. */
export type NodeMetadata = Readonly<Record<string, Json>>;
