/** https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/namespace-v1/ */
export interface KubernetesNamespace {
  /** The network of Pods whose labels name none, if this is the system namespace; '' for none. */
  readonly network: string;
}
