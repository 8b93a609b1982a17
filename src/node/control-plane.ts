/** What is known of the control plane before it is asked. */
export interface ControlPlane {
  readonly controlPlaneAuthPolicy: 'NONE' | 'MUTUAL_TLS';
  /** `host:port`. */
  readonly discoveryAddress: string;
  readonly registry: string;
  readonly podNamespace: string;
  /** `ISTIO_NAMESPACE`; empty for `istio-system`. */
  readonly istioNamespace: string;
  readonly trustDomain: string;
}
