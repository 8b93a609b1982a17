import type { Subset, TrafficPolicy } from '../../istio/traffic/destination-rule.ts';
import type { Endpoint, Environment } from '../../environment/environment.ts';
import type { MatchedRule } from '../scope/destination-rule-of.ts';
import { memoTable } from '../scope/memo.ts';
import { peerAuthenticationOf, type PeerPolicy } from '../scope/peer-authentication-of.ts';

/** Returns whether an endpoint is marked as one that supports mutual TLS. */
export type MutualTlsMark = (endpoint: Endpoint) => boolean;

/**
 * Marks the endpoints that support mutual TLS. None is marked if a rule sets another TLS mode.
 * Unless a rule sets ISTIO_MUTUAL, endpoints whose PeerAuthentication disables mutual TLS are not
 * marked.
 */
export function mutualTlsMark(
  environment: Environment,
  rule: MatchedRule | undefined,
  port: number,
  subset: Subset | undefined,
): MutualTlsMark {
  const mode = tlsModeOf(
    subset === undefined ? rule?.spec.trafficPolicy : subset.trafficPolicy,
    port,
  );
  if (mode !== undefined && mode !== 'istio-mutual') return () => false;
  const can: MutualTlsMark = ({ tlsMode }) => tlsMode === 'istio';
  if (mode === 'istio-mutual' || disablingPolicies(environment) === undefined) return can;
  return (endpoint) =>
    can(endpoint) && modeAt(policyOf(environment, endpoint), endpoint.port) !== 'disable';
}

/**
 * Returns the PeerAuthentications if one of them disables mutual TLS for a workload. The marks
 * depend on nothing else, except the rule.
 */
export function disablingPolicies({
  peerAuthentications,
}: Environment): Environment['peerAuthentications'] | undefined {
  return disabling([peerAuthentications], '', () => {
    const all = [...peerAuthentications.values()].flat();
    const disables = all.some(
      ({ spec }) => spec.mode === 'disable' || [...spec.portLevel.values()].includes('disable'),
    );
    return disables ? peerAuthentications : undefined;
  });
}

const disabling = memoTable<Environment['peerAuthentications'] | undefined>();

/**
 * Returns the TLS mode of the port, else of the whole policy. A port without TLS settings uses
 * those of the whole policy; that does not hold for any other settings.
 */
function tlsModeOf(policy: TrafficPolicy | undefined, port: number) {
  return (policy?.portLevelSettings.get(port)?.tls ?? policy?.tls)?.mode;
}

const policies = memoTable<PeerPolicy>();

function policyOf(environment: Environment, { namespace, labels }: Endpoint): PeerPolicy {
  const { peerAuthentications, mesh } = environment;
  return policies([peerAuthentications, mesh, labels], namespace, () =>
    peerAuthenticationOf(environment, { namespace, labels }),
  );
}

const modeAt = ({ mode, ports }: PeerPolicy, port: number): PeerPolicy['mode'] =>
  ports.get(port) ?? mode;
