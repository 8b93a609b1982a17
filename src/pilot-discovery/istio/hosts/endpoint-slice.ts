/** https://kubernetes.io/docs/reference/kubernetes-api/service-resources/endpoint-slice-v1/ */
export interface EndpointSlice extends EndpointSubset {
  /** The name of the Service whose endpoints these are, in the same namespace. */
  readonly service: string;
}

/**
 * The older kind of resource. It has the name of its Service.
 *
 * https://kubernetes.io/docs/reference/kubernetes-api/service-resources/endpoints-v1/
 */
export interface Endpoints {
  readonly subsets: readonly EndpointSubset[];
}

/** Endpoints that have the same ports. */
export interface EndpointSubset {
  readonly ports: readonly SlicePort[];
  readonly endpoints: readonly SliceEndpoint[];
}

export interface SlicePort {
  /** The name of the Service's port; '' for its only port. */
  readonly name: string;
  readonly number: number;
}

export interface SliceEndpoint {
  readonly addresses: readonly string[];
  readonly readiness: EndpointReadiness;
  /** The name of its Pod, in the same namespace; '' if it has none. */
  readonly pod: string;
}

/** Whether an endpoint may get calls. */
export type EndpointReadiness = 'ready' | 'not-ready';
