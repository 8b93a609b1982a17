import { changedKeys } from '../../../shared/maps/sorted-map.ts';
import {
  type Environment,
  hostOf,
  namespaceOf,
  serviceKey,
} from '../../environment/environment.ts';
import { type XdsType, xdsTypes } from '../../push/view.ts';
import type { ProxyNode } from './proxy-node.ts';
import { outboundScope } from './outbound-scope.ts';

/**
 * The parts of an environment on which any type may depend. Indexes of these parts are not listed.
 */
const parts = [
  'mesh',
  'networks',
  'services',
  'virtualServices',
  'destinationRules',
  'peerAuthentications',
  'accessPolicies',
  'fetchedKeys',
  'telemetries',
  'gateways',
  'sidecars',
] as const satisfies readonly (keyof Environment)[];

const all: ReadonlySet<XdsType> = new Set(xdsTypes);

/**
 * Returns the types whose resources may differ in another environment, for a proxy of the same
 * class. If only endpoints have changed, services that are neither visible to the proxy nor its own
 * are ignored.
 */
export function typesThatMayDiffer(
  before: Environment,
  after: Environment,
  node: ProxyNode,
): ReadonlySet<XdsType> {
  const isOther = (part: (typeof parts)[number]) => before[part] !== after[part];
  if (parts.some((part) => isOther(part) && (part !== 'gateways' || node.role === 'router')))
    return all;
  const types = new Set<XdsType>();
  const visibleServices = outboundScope(after, node).services;
  for (const key of changedKeys(before.endpoints, after.endpoints)) {
    if (namespaceOf(key) === node.namespace) return all;
    const service = visibleServices.get(hostOf(key));
    if (service === undefined || serviceKey(service) !== key) continue;
    // Each of its endpoints may have a listener.
    if (service.resolution === 'none') return all;
    types.add('cluster').add('endpoint');
  }
  return types;
}
