import type { EnvoyRequest } from './messages.ts';
import { wildcard as asterisk } from './resources.ts';
import type {
  ClientResource,
  SubscriptionKind,
  SubscriptionPolicy,
  TypeSubscription,
} from './type-subscription.ts';

type Names<Kind> = Extract<EnvoyRequest['names'], { readonly kind: Kind }>;

/** Returns the subscription after a request for names; the same object if nothing changed. Pure. */
export function withNames<K extends SubscriptionKind>(
  policy: SubscriptionPolicy<K>,
  before: TypeSubscription<K>,
  names: EnvoyRequest['names'],
  source: K['source'] | undefined,
): TypeSubscription<K> {
  return names.kind === 'all'
    ? withAll(policy, before, names, source)
    : withChange(policy, before, names, source);
}

function withAll<K extends SubscriptionKind>(
  policy: SubscriptionPolicy<K>,
  before: TypeSubscription<K>,
  request: Names<'all'>,
  source: K['source'] | undefined,
): TypeSubscription<K> {
  const isFirst = before.comes === 'not yet';
  const { digest, version } = request;
  if (!isFirst && digest !== undefined && digest === before.namesDigest) return before;
  const wantedNames = named(policy, request.names);
  const wildcard =
    wantedNames.length < request.names.length ||
    (policy.wildcard === 'by naming nothing' &&
      wantedNames.length === 0 &&
      (isFirst || before.wildcard));
  const isSame =
    wildcard === before.wildcard &&
    wantedNames.length === before.names.size &&
    wantedNames.every((name) => before.names.has(name));
  if (!isFirst && isSame) return digest === undefined ? before : { ...before, namesDigest: digest };
  const explicit = shared(policy, wantedNames, source);
  const names = new Set(explicit);
  const isWanted = ([name]: readonly [string, unknown]) => wildcard || names.has(name);
  const came = isFirst && source !== undefined ? policy.hadAll?.(version, source) : undefined;
  const clientResources = new Map([...(came ?? []), ...before.clientResources].filter(isWanted));
  const unanswered = explicit.filter(
    (name) => !clientResources.has(name) || before.unanswered.has(name),
  );
  return {
    ...unsynced(before),
    ...(isFirst && { comes: version === '' ? 'empty-handed' : 'with-versions', claimed: version }),
    ...{ wildcard, names, namesDigest: digest, clientResources, unanswered: new Set(unanswered) },
  };
}

function withChange<K extends SubscriptionKind>(
  policy: SubscriptionPolicy<K>,
  before: TypeSubscription<K>,
  { add, remove, versions }: Names<'change'>,
  source: K['source'] | undefined,
): TypeSubscription<K> {
  const isFirst = before.comes === 'not yet';
  if (!isFirst && add.length === 0 && remove.length === 0) return before;
  const added = shared(policy, named(policy, add), source);
  const removed = new Set(remove);
  const asksForAll =
    added.length < add.length ||
    (policy.wildcard === 'by naming nothing' && isFirst && add.length === 0);
  const wildcard = asksForAll || (before.wildcard && !removed.has(asterisk));
  const names = changed(before.names, added, removed);
  const unanswered = changed(before.unanswered, added, removed);
  const isWanted = (name: string) => wildcard || names.has(name);
  const subscribed = { ...unsynced(before), wildcard, names, unanswered };
  if (!isFirst)
    return removed.size === 0
      ? subscribed
      : {
          ...subscribed,
          clientResources: keptOf(
            before.clientResources,
            (name) => isWanted(name) && !removed.has(name),
          ),
        };
  const versionEntries = Object.entries(versions);
  const had = versionEntries.map(([name, version]) => [name, policy.had(name, version)] as const);
  for (const [name] of versionEntries) unanswered.delete(name);
  return {
    ...subscribed,
    comes: versionEntries.length === 0 ? 'empty-handed' : 'with-versions',
    clientResources: keptOf(new Map<string, ClientResource<K>>(had), isWanted),
  };
}

function named<K extends SubscriptionKind>(
  policy: SubscriptionPolicy<K>,
  names: readonly string[],
): readonly string[] {
  return policy.wildcard === 'never' || !names.includes(asterisk)
    ? names
    : names.filter((name) => name !== asterisk);
}

function shared<K extends SubscriptionKind>(
  { sharedName }: SubscriptionPolicy<K>,
  names: readonly string[],
  source: K['source'] | undefined,
): readonly string[] {
  return sharedName === undefined || source === undefined
    ? names
    : names.map((name) => sharedName(name, source));
}

function changed(
  before: ReadonlySet<string>,
  added: readonly string[],
  removed: ReadonlySet<string>,
): Set<string> {
  const after = new Set(before);
  for (const name of removed) after.delete(name);
  for (const name of added) after.add(name);
  return after;
}

function keptOf<T>(
  resources: ReadonlyMap<string, T>,
  isKept: (name: string) => boolean,
): ReadonlyMap<string, T> {
  return new Map([...resources].filter(([name]) => isKept(name)));
}

/**
 * Returns a subscription that may lack something, so that the next offer compares it again. Pure.
 */
export function unsynced<K extends SubscriptionKind>(
  before: TypeSubscription<K>,
): TypeSubscription<K> {
  const { inFlight } = before;
  return {
    ...before,
    syncedSource: undefined,
    inFlight: inFlight && { ...inFlight, syncedAfterAck: undefined },
  };
}
