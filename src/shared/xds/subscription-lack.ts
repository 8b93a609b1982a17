import type {
  Lack,
  SubscriptionKind,
  SubscriptionPolicy,
  TypeSubscription,
} from './type-subscription.ts';

/** The members of a policy that a comparison needs. */
type Comparison<K extends SubscriptionKind> = Pick<
  SubscriptionPolicy<K>,
  'holdsBack' | 'isSame' | 'resourcesOf' | 'changedNames'
>;

/** The resources that a client lacks, and where the search looked. */
export interface SubscriptionLack<K extends SubscriptionKind> extends Lack<K> {
  readonly resources: ReadonlyMap<string, K['resource']>;
  /** The only names that were looked at; undefined for all. */
  readonly candidates: readonly string[] | undefined;
  /** The number of wanted resources among those that were looked at. */
  readonly wanted: number;
}

/**
 * Returns the resources of a source that the client does not have. If the client was up to date
 * with an earlier source, only the differences from that source are looked at. Pure.
 */
export function lackOf<K extends SubscriptionKind>(
  policy: Comparison<K>,
  subscription: TypeSubscription<K>,
  source: K['source'],
): SubscriptionLack<K> {
  const { wildcard, names, unanswered, clientResources, refused, syncedSource } = subscription;
  const resources = policy.resourcesOf(source, subscription);
  const candidates =
    syncedSource === undefined || unanswered.size > 0
      ? undefined
      : policy.changedNames?.(syncedSource, source);
  const changed = new Map<string, K['resource']>();
  let wanted = 0;
  const look = (name: string, resource: K['resource'] | undefined): void => {
    if (resource === undefined || isHeldBack(policy, refused, name, resource)) return;
    wanted += 1;
    const current = clientResources.get(name);
    if (current === undefined || unanswered.has(name) || !policy.isSame(current, resource))
      changed.set(name, resource);
  };
  if (candidates !== undefined) {
    for (const name of candidates) if (wildcard || names.has(name)) look(name, resources.get(name));
  } else if (wildcard) for (const [name, resource] of resources) look(name, resource);
  else for (const name of names) look(name, resources.get(name));
  const looked = candidates?.filter((name) => clientResources.has(name)) ?? clientResources.keys();
  const gone = wildcard ? [...looked].filter((name) => !resources.has(name)) : [];
  const missing = [...unanswered].filter((name) => !changed.has(name));
  return { changed, gone, missing, resources, candidates, wanted };
}

function isHeldBack<K extends SubscriptionKind>(
  policy: Comparison<K>,
  refused: TypeSubscription<K>['refused'],
  name: string,
  resource: K['resource'],
): boolean {
  if (policy.holdsBack === 'whole') return false;
  const nacked = refused.get(name);
  return nacked !== undefined && policy.isSame(nacked, resource);
}

/** Whether the client lacks exactly what it has NACKed. Pure. */
export function isAllRefused<K extends SubscriptionKind>(
  { isSame }: SubscriptionPolicy<K>,
  { refused }: TypeSubscription<K>,
  { changed, gone }: Lack<K>,
): boolean {
  const isRefused = ([name, resource]: readonly [string, K['resource'] | undefined]) => {
    const nacked = refused.get(name);
    return nacked === undefined || resource === undefined
      ? refused.has(name) && nacked === resource
      : isSame(nacked, resource);
  };
  return (
    changed.size + gone.length > 0 &&
    changed.size + gone.length === refused.size &&
    [...changed].every(isRefused) &&
    gone.every((name) => isRefused([name, undefined]))
  );
}

/** Whether the source still has a resource that the client has NACKed. Pure. */
export function isSomeRefused<K extends SubscriptionKind>(
  { isSame, resourcesOf }: SubscriptionPolicy<K>,
  subscription: TypeSubscription<K>,
  source: K['source'],
): boolean {
  if (subscription.refused.size === 0) return false;
  const resources = resourcesOf(source, subscription);
  return [...subscription.refused].some(([name, nacked]) => {
    const resource = resources.get(name);
    return nacked !== undefined && resource !== undefined && isSame(nacked, resource);
  });
}
