import type { AgentConfig } from './agent-config.ts';

/**
 * Returns a warning if the address of the Datadog agent has the `$(HOST_IP)` that Kubernetes should
 * have replaced. Envoy would look up a host of this name, and no span would arrive. The Go agent
 * passes it on too, and says nothing. Pure.
 */
export function unreplacedHost({ tracing }: Pick<AgentConfig, 'tracing'>): readonly string[] {
  const address = tracing?.datadog?.address ?? '';
  return address.includes('$(HOST_IP)')
    ? [
        `the address of the Datadog agent is ${address}: Envoy sends no spans there; Kubernetes replaces $(HOST_IP) only in arguments and variables, and only if the container has the variable HOST_IP`,
      ]
    : [];
}
