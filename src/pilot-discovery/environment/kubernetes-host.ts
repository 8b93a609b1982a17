/** Returns the host of a Service of Kubernetes. */
export const kubernetesHost = (name: string, namespace: string, domain: string): string =>
  `${name}.${namespace}.svc.${domain}`.toLowerCase();
