import type { Resource } from '../istio/documents/model.ts';
import type { ClientTls } from '../istio/traffic/destination-rule.ts';
import { peerAuthenticationOf, type SetMode } from '../generate/scope/peer-authentication-of.ts';
import { type Check, type AnalysisFacts, finding, servicesOf } from './facts.ts';

type Rule = Resource<'DestinationRule'>;

/**
 * Finds TLS modes of DestinationRules that the PeerAuthentication of the host's namespace does not
 * accept.
 */
export const checkTls: Check = function* (facts) {
  for (const rule of facts.destinationRules)
    for (const [field, tls] of tlsOf(rule)) {
      const mode = modeOf(facts, rule.spec.host);
      const reason = mode && contradiction(tls.mode, mode, rule.spec.host);
      if (reason !== undefined) yield finding('IST0113', rule, field, reason);
    }
};

function* tlsOf({ spec }: Rule): Generator<readonly [field: string, tls: ClientTls]> {
  const { trafficPolicy, subsets } = spec;
  if (trafficPolicy?.tls !== undefined) yield ['spec.trafficPolicy.tls', trafficPolicy.tls];
  for (const [index, { trafficPolicy: subsetPolicy }] of subsets.entries())
    if (subsetPolicy?.tls !== undefined)
      yield [`spec.subsets[${index}].trafficPolicy.tls`, subsetPolicy.tls];
}

/** Undefined if the host is outside of the mesh. */
function modeOf(facts: AnalysisFacts, host: string): SetMode | undefined {
  const service = servicesOf(facts, host).find(({ location }) => location === 'internal');
  if (service === undefined) return undefined;
  return peerAuthenticationOf(facts.environment, { namespace: service.namespace, labels: {} }).mode;
}

function contradiction(
  client: ClientTls['mode'],
  server: SetMode,
  host: string,
): string | undefined {
  if (client !== 'istio-mutual' && client !== 'closed' && server === 'strict')
    return `${host} accepts only mutual TLS, as its PeerAuthentication says: use ISTIO_MUTUAL`;
  if (client === 'istio-mutual' && server === 'disable')
    return `${host} accepts no TLS, as its PeerAuthentication says: use DISABLE`;
  return undefined;
}
