import type { Subset, TrafficPolicy } from '../../istio/destination-rule.ts';
import type { Endpoint, Environment } from '../../environment/environment.ts';
import type { MatchedRule } from '../scope/destination-rule-of.ts';
import { memoTable } from '../scope/memo.ts';
import { peerAuthenticationOf, type PeerPolicy } from '../scope/peer-authentication-of.ts';

/** Whether an endpoint is told to be one that can do mutual TLS. */
export type AskedForMutualTls = (endpoint: Endpoint) => boolean;

/**
 * Endpoints that can do mutual TLS are told, but where a rule asks for another TLS, or for none,
 * and
 * where what holds for the workload has it disabled.
 */
export function askedForMutualTls(
  environment: Environment,
  rule: MatchedRule | undefined,
  port: number,
  subset: Subset | undefined,
): AskedForMutualTls {
  const mode = tlsModeOf(
    subset === undefined ? rule?.spec.trafficPolicy : subset.trafficPolicy,
    port,
  );
  if (mode !== undefined && mode !== 'istio-mutual') return () => false;
  const can: AskedForMutualTls = ({ tlsMode }) => tlsMode === 'istio';
  if (mode === 'istio-mutual' || disablingPolicies(environment) === undefined) return can;
  return (endpoint) =>
    can(endpoint) && modeAt(policyOf(environment, endpoint), endpoint.port) !== 'disable';
}

/**
 * Whether any workload has mutual TLS disabled: what the answers above depend on besides the rule.
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

/** That of the port before that of the whole, part by part: not as for all other settings. */
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
