import { type Place, warn } from '../fields/members.ts';

/** Which endpoints of a service a caller prefers: any, or those near to it. */
export type TrafficDistribution = 'any' | 'close';

/** The annotation of a Service or a ServiceEntry. A Service may have a field instead. */
export const distributionAnnotation = 'networking.istio.io/traffic-distribution';

/**
 * Reads a preference as istiod 1.26 does: it knows PreferClose, and PreferSameZone and
 * PreferSameNode have no effect. The annotation may be in any case.
 */
export function trafficDistribution(written: string, place: Place): TrafficDistribution {
  const word = written.toLowerCase();
  if (word === 'preferclose') return 'close';
  if (word !== '' && word !== 'any')
    warn(
      place,
      `'${written}' has no effect, as in Istio 1.26: calls go to all endpoints; give PreferClose`,
    );
  return 'any';
}
