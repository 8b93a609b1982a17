import type { Resource } from '../../shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import type { TypeResources } from '../../shared/xds/resources.ts';
import type { SubscriptionKind, TypeSubscription } from '../../shared/xds/type-subscription.ts';

/** What Envoy is given under a name: a resource, or the word that there is none. */
export type GivenResource = Resource | 'absent';

/** Where the resources of a type are from that an Envoy is given. */
export interface ResourceOrigins {
  /** What an Envoy begins with: what has worked before. */
  readonly stored: TypeResources | undefined;
  /** What the control plane says now; undefined while it says nothing. */
  readonly current: TypeResources | undefined;
}

/** What decides whether something that is stored is for an Envoy. */
type Newcomer = Pick<
  TypeSubscription<SubscriptionKind>,
  'comes' | 'answers' | 'names' | 'held' | 'unanswered'
>;

/** What an Envoy that asks for all is given: what is stored at first. Pure. */
export function wholeOf(
  { comes, answers }: Newcomer,
  { stored, current }: ResourceOrigins,
): TypeResources | undefined {
  return comes === 'empty-handed' && answers === 0 ? (stored ?? current) : current;
}

/** What an Envoy is given under the names that it asks for. Pure. */
export function namedOf(
  subscription: Newcomer,
  origins: ResourceOrigins,
): ReadonlyMap<string, GivenResource> {
  const entries = [...subscription.names].flatMap((name) => {
    const given = storedAs(subscription, origins, name) ?? find(origins.current, name);
    return given === undefined ? [] : [[name, given] as const];
  });
  return new Map(entries);
}

/** What is stored under a name of which Envoy has nothing; undefined otherwise. Pure. */
export function storedAs(
  { comes, held, unanswered }: Newcomer,
  { stored }: ResourceOrigins,
  name: string,
): GivenResource | undefined {
  const isNew = comes === 'empty-handed' && (unanswered.has(name) || !held.has(name));
  return isNew ? find(stored, name) : undefined;
}

function find(resources: TypeResources | undefined, name: string): GivenResource | undefined {
  return (
    resources?.resources.get(name) ?? (resources?.absent.has(name) === true ? 'absent' : undefined)
  );
}
