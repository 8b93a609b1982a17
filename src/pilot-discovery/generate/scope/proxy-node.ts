import type { ProxyTracing } from '../../istio/telemetry/proxy-tracing.ts';
import type { Labels } from '../../istio/fields/values.ts';

/** The properties of a proxy in its first request that affect what it receives. */
export interface ProxyNode {
  /** `sidecar~127.0.0.10~app.default~default.svc.cluster.local` */
  readonly id: string;
  readonly role: 'sidecar' | 'router';
  readonly addresses: readonly string[];
  /** `app` */
  readonly name: string;
  readonly namespace: string;
  /** `default.svc.cluster.local` */
  readonly dnsDomain: string;
  readonly interception: 'redirect' | 'tproxy' | 'none';
  readonly labels: Labels;
  readonly serviceAccount: string;
  readonly clusterId: string;
  /** The name of its service, in spans: `cluster` of the node. */
  readonly cluster: string;
  /** '' if it is unknown. */
  readonly meshId: string;
  /** The settings of its ProxyConfig; undefined if it sends none. */
  readonly tracing: ProxyTracing | undefined;
  readonly network: string;
  /** The networks whose endpoints it asks for; empty for all. */
  readonly networkView: readonly string[];
  /** The ports of listeners that its bootstrap has for all addresses; Istio's ports by default. */
  readonly ownPorts: readonly number[];
  /** `region/zone/subzone` */
  readonly locality: string;
  /** Whether its Envoy has a cluster of its own workload, `local_cluster`. */
  readonly ownCluster: 'known' | 'unknown';
  /** The ports that it may bind: a pod without privileges may not bind ports below 1024. */
  readonly bindable: 'any' | 'unprivileged';
  /** Whether its connection managers accept HTTP/1.0 too. */
  readonly http10: 'accepted' | 'refused';
  /** The listeners whose connections are spread evenly over the threads of Envoy. */
  readonly exactBalance: { readonly inbound: boolean; readonly outbound: boolean };
  readonly istioVersion: string;
  /** Who provides the secrets that rules name for its gateways. */
  readonly credentials: 'agent' | 'control-plane';
  /** TLS_CLIENT_* and TLS_SERVER_* of the metadata: paths of files; '' if they are not set. */
  readonly tls: {
    readonly clientCertChain: string;
    readonly clientKey: string;
    readonly clientRootCert: string;
    readonly serverCertChain: string;
    readonly serverKey: string;
    readonly serverRootCert: string;
  };
}
