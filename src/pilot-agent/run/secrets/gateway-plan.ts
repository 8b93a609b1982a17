import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { AgentConfig } from '../../config/agent-config.ts';

/** The source of the secrets of a gateway, and a second path to the agent's socket. */
export interface GatewayPlan {
  readonly source:
    | { readonly kind: 'none' }
    | { readonly kind: 'folder'; readonly path: string }
    /**
     * The Secrets of a namespace, read with a kubeconfig, or if '' with the service account of the
     * pod.
     */
    | { readonly kind: 'api'; readonly namespace: string; readonly kubeconfig: string };
  /** A path where the agent's socket is also available. */
  readonly link: string | undefined;
  readonly warnings: readonly string[];
}

/**
 * Exists in the pods of ingress gateways of Istio 1.1 to 1.6. Their Envoys look for `sds` in it.
 */
const ingressGateway = '/var/run/ingress_gateway';

const scheme = 'kubernetes://';

/**
 * Returns the source that `GATEWAY_SECRETS` names: a folder, or a namespace of Kubernetes. Without
 * it, a router with the folder of an ingress gateway uses the namespace of the pod, as with the Go
 * agents 1.5 and 1.6.
 *
 * @param folder the folder of an ingress gateway
 */
export function gatewayPlan(
  {
    role,
    podNamespace,
    kubeconfig,
    secrets: { gateway },
  }: Pick<AgentConfig, 'role' | 'podNamespace' | 'kubeconfig' | 'secrets'>,
  folder = ingressGateway,
): GatewayPlan {
  const link = role === 'router' && existsSync(folder) ? join(folder, 'sds') : undefined;
  const isOfApi = gateway.startsWith(scheme) || (gateway === '' && link !== undefined);
  if (!isOfApi)
    return {
      source: gateway === '' ? { kind: 'none' } : { kind: 'folder', path: resolve(gateway) },
      link,
      warnings: [],
    };
  const named = gateway.slice(scheme.length).replace(/\/$/, '');
  const namespace = named === '' ? podNamespace : named;
  if (namespace === '') {
    const warning = `the secrets of the gateway are not looked for: set POD_NAMESPACE, or GATEWAY_SECRETS to ${scheme}NAMESPACE`;
    return { source: { kind: 'none' }, link, warnings: [warning] };
  }
  return { source: { kind: 'api', namespace, kubeconfig }, link, warnings: [] };
}
