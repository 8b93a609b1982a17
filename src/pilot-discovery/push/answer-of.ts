import { createHash } from 'node:crypto';
import { emptyAssignment } from './empty-assignment.ts';
import type { Answer, ProxyStream } from './proxy-stream.ts';
import { type Held, type TypeStream, unsettled, wantedOf } from './type-stream.ts';
import {
  changedNames,
  type TypedView,
  typeUrls,
  type View,
  type XdsResource,
  type XdsType,
} from './view.ts';

/** So many endpoints that nobody has are told in one answer; the next ones follow its ACK. */
const mostEmpty = 10_000;

/** What there is to say of one type now; nothing where something is under way, or has to wait. */
export function answerOf(
  state: ProxyStream,
  type: XdsType,
  view: View,
): readonly [ProxyStream, Answer | undefined] {
  const stream = state.types[type];
  const to = view[type];
  if (!stream.isAsked || stream.inFlight !== undefined || stream.settled === to)
    return [state, undefined];
  // Where nothing was left to be said of another view, only what differs from that one counts.
  const candidates =
    stream.settled !== undefined && stream.fresh.size === 0
      ? changedNames(stream.settled, to)
      : undefined;
  const wanted = wantedOf(stream, to, candidates);
  const isNew = stream.answers === 0;
  const mayChange = type === 'cluster' || type === 'endpoint' || isWarm(state, view);
  if (!mayChange && !state.isOverdue) return [state, undefined];
  const changed = [...wanted.values()].filter(
    ({ name, version }) => stream.fresh.has(name) || stream.held.get(name)?.version !== version,
  );
  if (!mayChange && !areFirst(type, stream, changed)) return [state, undefined];
  const missing = [...stream.fresh].filter((name) => !wanted.has(name) && !stream.held.has(name));
  const gone = goneOf(stream, wanted, to, candidates);
  const isWhole =
    state.variant === 'state-of-the-world' && (type === 'cluster' || type === 'listener');
  const mayGo =
    type !== 'cluster' || (isNew && isWhole) || (changed.length === 0 && needsNoMore(state, view));
  const removed = mayGo ? gone : [];
  const empty = type === 'endpoint' ? missing.slice(0, mostEmpty).map(emptyAssignment) : [];
  const again = type === 'endpoint' ? heldStill(stream, wanted) : [];
  const absent = type === 'route' && state.variant === 'delta' ? missing : [];
  const isNeeded =
    changed.length > 0 ||
    removed.length > 0 ||
    empty.length > 0 ||
    again.length > 0 ||
    absent.length > 0 ||
    (isNew && (isWhole ? stream.held.size === 0 : stream.wildcard));
  if (!isNeeded) {
    return [
      withType(state, type, { ...stream, ...(gone.length === 0 && { settled: to }) }),
      undefined,
    ];
  }

  const given = [...changed, ...empty, ...again];
  const had = new Map(
    [...given.map(({ name }) => name), ...removed].map((name) => [name, stream.held.get(name)]),
  );
  const isComplete =
    given.length === changed.length &&
    tellsAll(stream, to, wanted, { changed, removed, candidates });
  const held = isComplete ? to.resources : heldAfter(stream, given, removed);
  const resources = isWhole
    ? [...held.values()].filter((one): one is XdsResource => one.body !== undefined)
    : given;
  const said = {
    typeUrl: typeUrls[type],
    version: gone.length === removed.length ? to.version : `${to.version}+`,
    resources,
    removed: state.variant === 'delta' ? [...removed, ...absent] : [],
  };
  const hash = nonceOf(said);
  // A request with new names repeats the last nonce: it must not look like the answer to this one.
  const nonce = hash === stream.lastNonce ? `${hash}+` : hash;
  const answer: Answer = { ...said, nonce, snapshot: view.snapshot };
  const isLeft = type === 'route' && absent.length === 0;
  const fresh = new Set(type === 'endpoint' ? missing.slice(mostEmpty) : isLeft ? missing : []);
  const isAll = fresh.size === 0 && gone.length === removed.length;
  const next: TypeStream = {
    ...stream,
    fresh,
    held,
    answers: stream.answers + 1,
    lastNonce: nonce,
    inFlight: { nonce, snapshot: view.snapshot, given, before: had, tells: isAll ? to : undefined },
    settled: undefined,
  };
  return [
    type === 'cluster'
      ? withClusters(state, next, changed, removed, view)
      : withType(state, type, next),
    answer,
  ];
}

interface Told {
  readonly changed: readonly XdsResource[];
  readonly removed: readonly string[];
  readonly candidates: readonly string[] | undefined;
}

/**
 * Whether the client has all of a view, and nothing else, once it has been told this: it is known
 * by the view then, and not by a list of its own.
 */
function tellsAll(
  { held, settled }: TypeStream,
  { resources }: TypedView,
  wanted: ReadonlyMap<string, XdsResource>,
  { changed, removed, candidates }: Told,
): boolean {
  if (candidates !== undefined)
    return held === settled?.resources && changed.length + removed.length === candidates.length;
  const size = held.size + changed.filter(({ name }) => !held.has(name)).length - removed.length;
  return wanted.size === resources.size && size === resources.size;
}

function heldAfter(
  stream: TypeStream,
  given: readonly XdsResource[],
  removed: readonly string[],
): ReadonlyMap<string, Held> {
  const held = new Map(stream.held);
  for (const resource of given) held.set(resource.name, resource);
  for (const name of removed) held.delete(name);
  return held;
}

/** What the client has, and is not to have any more. Of what it names it knows that itself. */
function goneOf(
  { wildcard, names, held, refused }: TypeStream,
  wanted: ReadonlyMap<string, XdsResource>,
  { resources }: TypedView,
  candidates?: readonly string[],
): readonly string[] {
  if (!wildcard || held.size === 0) return [];
  return (candidates?.filter((name) => held.has(name)) ?? [...held.keys()]).filter(
    (name) => !wanted.has(name) && !names.has(name) && !(refused.has(name) && resources.has(name)),
  );
}

/** Endpoints of clusters that have changed, and that go as soon as nothing refers to them. */
function heldStill(
  { fresh, held }: TypeStream,
  wanted: ReadonlyMap<string, XdsResource>,
): readonly XdsResource[] {
  return [...fresh].flatMap((name) => {
    const resource = wanted.has(name) ? undefined : held.get(name);
    return resource?.body === undefined ? [] : [resource as XdsResource];
  });
}

/** Clusters that have come or changed get their endpoints anew. */
function withClusters(
  state: ProxyStream,
  cluster: TypeStream,
  changed: readonly XdsResource[],
  removed: readonly string[],
  view: View,
): ProxyStream {
  const { endpoint } = state.types;
  const followed = changed
    .map(({ name }) => name)
    .filter((name) => view.endpoint.resources.has(name));
  const warming = new Set([...state.warming, ...followed]);
  for (const name of removed) warming.delete(name);
  const again = followed.filter((name) => endpoint.names.has(name));
  const fresh = new Set([...endpoint.fresh, ...again]);
  return {
    ...state,
    isOverdue: false,
    warming,
    types: {
      ...state.types,
      cluster,
      endpoint: again.length === 0 ? endpoint : { ...endpoint, ...unsettled(endpoint), fresh },
    },
  };
}

/** Whether the proxy has each cluster, with its endpoints, so that others may refer to it. */
function isWarm({ types: { cluster, endpoint }, warming }: ProxyStream, view: View): boolean {
  if (cluster.inFlight !== undefined && cluster.inFlight.given.length > 0) return false;
  if (cluster.isAsked && cluster.settled !== view.cluster && !hasAll(cluster, view.cluster))
    return false;
  return (
    endpoint.inFlight === undefined &&
    ![...warming].some((name) => view.endpoint.resources.has(name))
  );
}

/**
 * Whether these are the first listeners of a proxy, or routes that it has nothing of. A client that
 * has not accepted its clusters in time is given those: it may be one that never accepts.
 */
const areFirst = (type: XdsType, { held }: TypeStream, changed: readonly XdsResource[]): boolean =>
  type === 'listener' ? held.size === 0 : changed.every(({ name }) => !held.has(name));

const hasAll = (stream: TypeStream, view: TypedView): boolean =>
  [...wantedOf(stream, view)].every(
    ([name, { version }]) => stream.held.get(name)?.version === version,
  );

/**
 * Whether listeners and routes are accepted that need nothing but what is in the view: one that
 * was refused goes on as it was, and may need more.
 */
function needsNoMore({ types, isIntroduced }: ProxyStream, view: View): boolean {
  return (['listener', 'route'] as const).every((type) => {
    const stream = types[type];
    if (!stream.isAsked) return isIntroduced;
    if (stream.inFlight !== undefined) return false;
    const isStillRefused = [...stream.refused].some(
      ([name, version]) =>
        stream.held.has(name) && view[type].resources.get(name)?.version === version,
    );
    if (isStillRefused) return false;
    if (stream.settled === view[type]) return true;
    return (
      goneOf(stream, wantedOf(stream, view[type]), view[type]).length === 0 &&
      hasAll(stream, view[type])
    );
  });
}

function withType(state: ProxyStream, type: XdsType, stream: TypeStream): ProxyStream {
  return { ...state, types: { ...state.types, [type]: stream } };
}

function nonceOf({
  typeUrl,
  version,
  resources,
  removed,
}: Omit<Answer, 'nonce' | 'snapshot'>): string {
  const hash = createHash('sha1').update(`${typeUrl}\n${version}\n`);
  // Names may be a client's, with any sign in them.
  for (const resource of resources)
    hash.update(`${JSON.stringify(resource.name)}${resource.version}\n`);
  return hash.update(JSON.stringify(removed)).digest('base64url').slice(0, 16);
}
