/** https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/node-v1/ */
export interface KubernetesNode {
  /** `region/zone/subzone` of its Pods; '' if its labels name none. */
  readonly locality: string;
}
