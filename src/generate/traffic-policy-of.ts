import type { PortPolicy, TrafficPolicy } from '../mesh/destination-rule.ts';

/** What holds for one port: a part that its own settings lack is not that of the whole, as Istio has it. */
export function portPolicyOf(policy: TrafficPolicy | undefined, port: number): PortPolicy | undefined {
  return policy?.portLevelSettings.get(port) ?? policy;
}
