import type { Resource } from '../../shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import type { TypeResources } from '../../shared/xds/resources.ts';
import type { SubscriptionKind, TypeSubscription } from '../../shared/xds/type-subscription.ts';

/** A resource that Envoy gets under a name, or `absent` if there is none. */
export type GivenResource = Resource | 'absent';

/** The two origins of the resources of a type. */
export interface ResourceOrigins {
  /** The last good resources, with which an Envoy starts. */
  readonly stored: TypeResources | undefined;
  /** The resources of the control plane; undefined until it has answered. */
  readonly current: TypeResources | undefined;
}

/** The members of a subscription that decide whether stored resources are for it. */
type Newcomer = Pick<
  TypeSubscription<SubscriptionKind>,
  'comes' | 'answers' | 'names' | 'clientResources' | 'unanswered'
>;

/** Returns the resources for an Envoy that wants all of a type: the stored ones first. Pure. */
export function wholeOf(
  { comes, answers }: Newcomer,
  { stored, current }: ResourceOrigins,
): TypeResources | undefined {
  return comes === 'empty-handed' && answers === 0 ? (stored ?? current) : current;
}

/** Returns the resources for an Envoy under the names that it requests. Pure. */
export function namedOf(
  subscription: Newcomer,
  origins: ResourceOrigins,
): ReadonlyMap<string, GivenResource> {
  const entries = [...subscription.names].flatMap((name) => {
    const resource = storedAs(subscription, origins, name) ?? find(origins.current, name);
    return resource === undefined ? [] : [[name, resource] as const];
  });
  return new Map(entries);
}

/** Returns the stored resource under a name, if Envoy has none there yet. Pure. */
export function storedAs(
  { comes, clientResources: envoyResources, unanswered }: Newcomer,
  { stored }: ResourceOrigins,
  name: string,
): GivenResource | undefined {
  const isNew = comes === 'empty-handed' && (unanswered.has(name) || !envoyResources.has(name));
  return isNew ? find(stored, name) : undefined;
}

function find(resources: TypeResources | undefined, name: string): GivenResource | undefined {
  return (
    resources?.resources.get(name) ?? (resources?.absent.has(name) === true ? 'absent' : undefined)
  );
}
