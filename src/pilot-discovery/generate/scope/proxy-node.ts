import type { Labels } from '../../istio/values.ts';

/** What a proxy says of itself in its first request, as far as it shapes what it is given. */
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
  readonly network: string;
  /** Of the listeners that its bootstrap has for all addresses; Istio's where it says none. */
  readonly ownPorts: readonly number[];
  /** `region/zone/subzone` */
  readonly locality: string;
  /** Which ports it may bind: a pod without privileges none below 1024. */
  readonly bindable: 'any' | 'unprivileged';
  /** Whether its connection managers take HTTP/1.0 too. */
  readonly http10: 'accepted' | 'refused';
  /** Of which listeners the connections are spread evenly over the threads of Envoy. */
  readonly exactBalance: { readonly inbound: boolean; readonly outbound: boolean };
  readonly istioVersion: string;
  /** TLS_CLIENT_* and TLS_SERVER_* of the metadata: paths of files; '' where they are not said. */
  readonly tls: {
    readonly clientCertChain: string;
    readonly clientKey: string;
    readonly clientRootCert: string;
    readonly serverCertChain: string;
    readonly serverKey: string;
    readonly serverRootCert: string;
  };
}
