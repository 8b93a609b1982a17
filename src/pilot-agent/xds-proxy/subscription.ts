import type { Resource } from '../../shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import type { EnvoyRequest, ErrorDetail } from '../../shared/xds/messages.ts';
import { type TypeResources, wildcard } from '../../shared/xds/resources.ts';

/**
 * What an Envoy has under a name: a resource, the word that there is none, or something that it had
 * before it came here.
 */
type Given = Resource | 'absent' | 'unknown';

/** What one Envoy wants of one type, and what it has. */
export interface Subscription {
  readonly names: ReadonlySet<string>;
  /** By name. What Envoy has refused is not in it. */
  readonly given: ReadonlyMap<string, Given>;
  /** Of the answer that was given last; empty for none. */
  readonly version: string;
  readonly isAnswered: boolean;
  /** It came with a configuration, which is newer than what is stored, perhaps. */
  readonly hasOwn: boolean;
  /**
   * The answer that Envoy has not answered yet, and what it had before. There is one at most, and
   * what is newer waits for its answer.
   */
  readonly inFlight:
    | {
        readonly nonce: string;
        readonly before: Subscription;
        readonly changed: ReadonlyMap<string, Given>;
      }
    | undefined;
  /** What Envoy has refused last, and why. It is not given again as long as nothing else is. */
  readonly refused:
    { readonly changed: ReadonlyMap<string, Given>; readonly refusal: ErrorDetail } | undefined;
}

const fresh: Subscription = {
  names: new Set(),
  given: new Map(),
  version: '',
  isAnswered: false,
  hasOwn: false,
  inFlight: undefined,
  refused: undefined,
};

/** What an Envoy has made of an answer. */
export type EnvoyVerdict =
  { readonly kind: 'accepted' } | { readonly kind: 'refused'; readonly refusal: ErrorDetail };

/**
 * The subscription after a request, and the answer to the last push if it is one. A
 * state-of-the-world request that answers an older push says nothing any more. Pure.
 */
export function requested(
  before: Subscription | undefined,
  { nonce, refusal, names }: EnvoyRequest,
): { readonly subscription: Subscription; readonly verdict: EnvoyVerdict | undefined } {
  const known = before ?? fresh;
  const answers = nonce === known.inFlight?.nonce;
  if (known.inFlight !== undefined && !answers && names.kind === 'all' && nonce !== '')
    return { subscription: known, verdict: undefined };
  const verdict: EnvoyVerdict | undefined = !answers
    ? undefined
    : refusal === undefined
      ? { kind: 'accepted' }
      : { kind: 'refused', refusal };
  const answered = verdict === undefined ? known : afterVerdict(known, verdict);
  const isFirst = before === undefined;
  if (names.kind === 'all') {
    // Who has never named one asks for all.
    const asksForAll = names.names.length === 0 && (isFirst || known.names.has(wildcard));
    const next = withNames(answered, asksForAll ? [wildcard] : names.names);
    return { subscription: isFirst ? { ...next, hasOwn: names.version !== '' } : next, verdict };
  }
  const { add, remove, versions } = names;
  const asksForAll = isFirst && add.length === 0 && remove.length === 0;
  const gone = new Set(remove);
  const kept = [...answered.names].filter((name) => !gone.has(name));
  // Who asks again for what it has may have lost it.
  const next = withNames(forgotten(answered, add), [...kept, ...(asksForAll ? [wildcard] : add)]);
  const own = Object.keys(versions).map((name): [string, Given] => [name, 'unknown']);
  return {
    subscription: isFirst ? { ...next, given: new Map(own), hasOwn: own.length > 0 } : next,
    verdict,
  };
}

function afterVerdict(subscription: Subscription, verdict: EnvoyVerdict): Subscription {
  const { inFlight } = subscription;
  if (verdict.kind === 'accepted' || inFlight === undefined)
    return { ...subscription, inFlight: undefined };
  const { given, version } = inFlight.before;
  const refused = { changed: inFlight.changed, refusal: verdict.refusal };
  return { ...subscription, given, version, inFlight: undefined, refused };
}

function withNames(before: Subscription, names: readonly string[]): Subscription {
  if (names.length === before.names.size && names.every((name) => before.names.has(name)))
    return before;
  const wanted = new Set(names);
  if (wanted.has(wildcard)) return { ...before, names: wanted };
  return {
    ...before,
    names: wanted,
    given: new Map([...before.given].filter(([name]) => wanted.has(name))),
  };
}

/** The subscription where it is to be given again what it has under these names, or all. Pure. */
export function forgotten(
  subscription: Subscription,
  names: Iterable<string> = subscription.given.keys(),
): Subscription {
  const again = new Set(names);
  const given = new Map([...subscription.given].filter(([name]) => !again.has(name)));
  const { inFlight } = subscription;
  return {
    ...subscription,
    given,
    inFlight: inFlight && { ...inFlight, before: forgotten(inFlight.before, again) },
  };
}

/** Where the resources of a type are from that an Envoy is given. */
export interface ResourceOrigins {
  /** What an Envoy begins with: what has worked before. */
  readonly stored: TypeResources | undefined;
  /** What the control plane says now; undefined while it says nothing. */
  readonly current: TypeResources | undefined;
}

/**
 * What an Envoy is to be given: what is new to it, and, for state of the world, all that it then
 * has.
 */
interface Due {
  readonly subscription: Subscription;
  readonly version: string;
  readonly changed: readonly Resource[];
  readonly removed: readonly string[];
  readonly all: () => readonly Resource[];
  /** Some of it is stored, and not from the control plane. */
  readonly isStored: boolean;
}

/**
 * How it stands with a subscription: an answer is in flight; something is due to Envoy; Envoy
 * refuses what there is; or it has all that there is.
 */
export type SubscriptionStanding =
  | { readonly kind: 'in flight' | 'settled' }
  | { readonly kind: 'refused'; readonly refusal: ErrorDetail }
  | { readonly kind: 'due'; readonly due: Due };

/** How it stood where nothing was due: a mesh has many resources, of which few change at once. */
const rested = new WeakMap<
  Subscription,
  ResourceOrigins & { readonly standing: SubscriptionStanding }
>();

/** How it stands, and the subscription once what is due is given as answer `nonce`. Pure. */
export function standing(
  subscription: Subscription,
  sources: ResourceOrigins,
  nonce: string,
): SubscriptionStanding {
  if (subscription.inFlight !== undefined) return { kind: 'in flight' };
  const known = rested.get(subscription);
  if (known !== undefined && known.stored === sources.stored && known.current === sources.current)
    return known.standing;
  const stands = compared(subscription, sources, nonce);
  if (stands.kind !== 'due') rested.set(subscription, { ...sources, standing: stands });
  return stands;
}

function compared(
  before: Subscription,
  sources: ResourceOrigins,
  nonce: string,
): SubscriptionStanding {
  const stored = before.hasOwn ? undefined : sources.stored;
  const found = before.names.has(wildcard)
    ? changesOfAll(before, stored, sources.current)
    : changesByName(before, stored, sources.current);
  if (found === undefined) return { kind: 'settled' };
  const { changed, isStored } = found;
  const { refused } = before;
  if (
    refused !== undefined &&
    [...changed].every(([name, next]) => refused.changed.get(name) === next)
  ) {
    return { kind: 'refused', refusal: refused.refusal };
  }
  const version = (isStored ? stored : sources.current)?.version ?? '';
  const after = new Map([...before.given, ...changed]);
  // Of all resources that there are, those that are gone need no mention.
  const given = before.names.has(wildcard)
    ? new Map([...after].filter(([, next]) => next !== 'absent'))
    : after;
  const due: Due = {
    subscription: {
      ...before,
      given,
      version,
      isAnswered: true,
      refused: undefined,
      inFlight: { nonce, before, changed },
    },
    version,
    changed: resourcesOf(changed),
    removed: [...changed].flatMap(([name, next]) => (next === 'absent' ? [name] : [])),
    all: () => resourcesOf(given),
    isStored,
  };
  return { kind: 'due', due };
}

function resourcesOf(given: ReadonlyMap<string, Given>): readonly Resource[] {
  return [...given.values()].filter((next) => typeof next === 'object');
}

interface Changes {
  readonly changed: ReadonlyMap<string, Given>;
  readonly isStored: boolean;
}

function changesOfAll(
  { given, isAnswered }: Subscription,
  stored: ResourceOrigins['stored'],
  current: ResourceOrigins['current'],
): Changes | undefined {
  const isStored = !isAnswered && stored !== undefined;
  const all = isStored ? stored : current;
  if (all === undefined) return undefined;
  const changed = [...all.resources].filter(([name, resource]) => given.get(name) !== resource);
  const gone = [...given.keys()]
    .filter((name) => !all.resources.has(name))
    .map((name): [string, Given] => [name, 'absent']);
  // An empty answer is one too.
  return changed.length + gone.length === 0 && isAnswered
    ? undefined
    : { changed: new Map<string, Given>([...changed, ...gone]), isStored };
}

function changesByName(
  { names, given }: Subscription,
  stored: ResourceOrigins['stored'],
  current: ResourceOrigins['current'],
): Changes | undefined {
  const changed = new Map<string, Given>();
  let isStored = false;
  for (const name of names) {
    const old = given.has(name) ? undefined : find(stored, name);
    const next = old ?? find(current, name);
    if (next === undefined || next === given.get(name)) continue;
    changed.set(name, next);
    isStored ||= old !== undefined;
  }
  return changed.size === 0 ? undefined : { changed, isStored };
}

function find(resources: TypeResources | undefined, name: string): Given | undefined {
  return (
    resources?.resources.get(name) ?? (resources?.absent.has(name) === true ? 'absent' : undefined)
  );
}

/** What Envoy has accepted of what it has asked for; undefined unless that is all. Pure. */
export function acceptedBy({
  names,
  given,
  version,
  isAnswered,
  inFlight,
  refused,
}: Subscription): TypeResources | undefined {
  if (!isAnswered || inFlight !== undefined || refused !== undefined) return undefined;
  const entries = [...given];
  if (
    entries.some(([, next]) => next === 'unknown') ||
    (!names.has(wildcard) && given.size < names.size)
  )
    return undefined;
  const resources = entries.flatMap(([name, next]): readonly (readonly [string, Resource])[] =>
    typeof next === 'object' ? [[name, next]] : [],
  );
  const absent = entries.flatMap(([name, next]) => (next === 'absent' ? [name] : []));
  return { version, resources: new Map(resources), absent: new Set(absent) };
}
