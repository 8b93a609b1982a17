/** The cluster of the workload of the proxy that asks, as Istio names it (since 1.31). */
export const ownClusterName = 'local_cluster';
