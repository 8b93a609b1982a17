/** https://kubernetes.io/docs/reference/kubernetes-api/service-resources/endpoint-slice-v1/ */
export interface EndpointSlice {
  /** The name of the Service, of the same namespace, that it has endpoints of. */
  readonly service: string;
  readonly ports: readonly SlicePort[];
  readonly endpoints: readonly SliceEndpoint[];
}

export interface SlicePort {
  /** That of the port of the Service; '' for the only one. */
  readonly name: string;
  readonly number: number;
}

export interface SliceEndpoint {
  readonly addresses: readonly string[];
  readonly readiness: EndpointReadiness;
  /** The name of its Pod, of the same namespace; '' where it has none. */
  readonly pod: string;
}

/** Whether calls may go somewhere. */
export type EndpointReadiness = 'ready' | 'not-ready';
