import type { Resource } from '../../shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import type { SubscriptionPolicy } from '../../shared/xds/type-subscription.ts';
import type { EnvoyKind, EnvoySubscription } from './envoy-subscription.ts';
import { namedOf, type ResourceOrigins, storedAs, wholeOf } from './resource-origins.ts';

/**
 * Sends resources to an Envoy. An Envoy gives one verdict on a whole answer, so a NACKed resource
 * is sent again as soon as anything else changes. If an Envoy already has a configuration when it
 * connects, that may be newer than the stored one.
 */
export const envoyPolicy: SubscriptionPolicy<EnvoyKind> = {
  wildcard: 'by naming nothing',
  staleNames: 'ignored in flight',
  holdsBack: 'whole',
  had: () => 'unknown',
  blamed: ({ before }) => [...before.keys()],
  isSame: (previous, given) => previous === given,
  isSameSource: (a, b) => a.stored === b.stored && a.current === b.current,
  resourcesOf: (origins, subscription) =>
    subscription.wildcard
      ? (wholeOf(subscription, origins)?.resources ?? new Map<string, EnvoyKind['resource']>())
      : namedOf(subscription, origins),
  choose({ changed, gone, missing: unanswered }, subscription, { origins }) {
    const { wildcard, answers } = subscription;
    const isSilent = wildcard && wholeOf(subscription, origins) === undefined;
    const isFirst = wildcard && answers === 0; // the first answer is sent even if it is empty
    if (isSilent || (changed.size + gone.length === 0 && !isFirst)) return { type: 'nothing' };
    // The resources of the control plane follow the stored ones.
    const leaves = isFromStore(subscription, origins, changed) ? 'more' : 'nothing';
    return { type: 'give', given: changed, removed: gone, unanswered, leaves };
  },
  write({ given, removed, clientResources: envoyResources }, subscription, { nonce, origins }) {
    const isStored = isFromStore(subscription, origins, given);
    const version = (isStored ? origins.stored : origins.current)?.version ?? '';
    const absent = [...given].flatMap(([name, resource]) => (resource === 'absent' ? [name] : []));
    const changed = resourcesIn(given);
    return {
      nonce,
      note: { version, isAfterNack: subscription.refused.size > 0 },
      message: {
        ...{ version, isStored, changed, removed: [...absent, ...removed] },
        all: () => resourcesIn(envoyResources),
      },
    };
  },
};

/** Whether a given resource is a stored one. */
function isFromStore(
  subscription: EnvoySubscription,
  origins: ResourceOrigins,
  given: EnvoySubscription['clientResources'],
): boolean {
  if (subscription.wildcard) return wholeOf(subscription, origins) !== origins.current;
  return [...given.keys()].some((name) => storedAs(subscription, origins, name) !== undefined);
}

function resourcesIn(resources: EnvoySubscription['clientResources']): readonly Resource[] {
  return [...resources.values()].filter((resource) => typeof resource === 'object');
}
