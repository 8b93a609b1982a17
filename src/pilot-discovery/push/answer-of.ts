// Why: docs/decisions/070-nonces-are-hashes.md
import { createHash } from 'node:crypto';
import { clientLimits } from './client-limits.ts';
import { emptyAssignment } from './empty-assignment.ts';
import { type Answer, type ProxyStream, withType } from './proxy-stream.ts';
import { type Held, type TypeStream, unsettled, wantedOf } from './type-stream.ts';
import type { Unsent } from './unsent.ts';
import {
  changedNames,
  type TypedView,
  typeUrls,
  type View,
  type XdsResource,
  type XdsType,
} from './view.ts';

const mostEmpty = clientLimits.unknownEndpoints.value;

/** What comes of looking for something to send; without a reason there is nothing to send. */
type Outcome =
  | { readonly type: 'answer'; readonly answer: Answer }
  | { readonly type: 'unsent'; readonly waitsFor: Unsent | undefined };

const unsent = (waitsFor: Unsent | undefined): Outcome => ({ type: 'unsent', waitsFor });

/** What there is to say of one type now, or why that is not sent. Pure. */
export function answerOf(
  state: ProxyStream,
  type: XdsType,
  view: View,
): readonly [ProxyStream, Outcome] {
  const stream = state.types[type];
  const to = view[type];
  if (!stream.isAsked) return [state, unsent(undefined)];
  if (stream.settled === to) return [state, unsent(refusalOf(stream, to))];
  if (stream.inFlight !== undefined)
    return [state, unsent(stream.inFlight.tells === to ? undefined : 'in flight')];
  // Where nothing was left to be said of another view, only what differs from that one counts.
  const candidates =
    stream.settled !== undefined && stream.fresh.size === 0
      ? changedNames(stream.settled, to)
      : undefined;
  const wanted = wantedOf(stream, to, candidates);
  const isNew = stream.answers === 0;
  const changed = [...wanted.values()].filter(
    ({ name, version }) => stream.fresh.has(name) || stream.held.get(name)?.version !== version,
  );
  const warms = type === 'cluster' || type === 'endpoint' ? undefined : warmingOf(state, view);
  if (warms !== undefined && !(state.isOverdue && areFirst(type, stream, changed)))
    return [state, unsent(changed.length > 0 ? warms : undefined)];
  const missing = [...stream.fresh].filter((name) => !wanted.has(name) && !stream.held.has(name));
  const gone = goneOf(stream, wanted, to, candidates);
  const isWhole =
    state.variant === 'state-of-the-world' && (type === 'cluster' || type === 'listener');
  const goAtOnce = type !== 'cluster' || (isNew && isWhole) || gone.length === 0;
  const needed = !goAtOnce && changed.length === 0 ? neededBy(state, view) : undefined;
  const removed = goAtOnce || (changed.length === 0 && needed === undefined) ? gone : [];
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
      unsent(needed ?? refusalOf(stream, to)),
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
    { type: 'answer', answer },
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

/**
 * What listeners and routes wait for: a proxy has to have each cluster, with its endpoints, before
 * others refer to it. Undefined if it has them.
 */
function warmingOf(
  { types: { cluster, endpoint }, warming }: ProxyStream,
  view: View,
): 'clusters' | 'endpoints' | undefined {
  if (cluster.inFlight !== undefined && cluster.inFlight.given.length > 0) return 'clusters';
  if (cluster.isAsked && cluster.settled !== view.cluster && !hasAll(cluster, view.cluster))
    return 'clusters';
  const isWarm =
    endpoint.inFlight === undefined &&
    ![...warming].some((name) => view.endpoint.resources.has(name));
  return isWarm ? undefined : 'endpoints';
}

/** Whether something that the client is to have is not given again, since it was refused. */
const refusalOf = ({ refused }: TypeStream, { resources }: TypedView): 'NACKed' | undefined =>
  [...refused].some(([name, version]) => resources.get(name)?.version === version)
    ? 'NACKed'
    : undefined;

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
 * What clusters that go wait for: the listeners and routes that are accepted may need nothing but
 * what is in the view. One that was refused goes on as it was, and may need more. Undefined if
 * nothing needs more.
 */
function neededBy(
  { types, isIntroduced }: ProxyStream,
  view: View,
): 'listeners' | 'routes' | 'introduction' | undefined {
  for (const type of ['listener', 'route'] as const) {
    const stream = types[type];
    if (!stream.isAsked && !isIntroduced) return 'introduction';
    if (stream.isAsked && mayNeedMore(stream, view[type])) return `${type}s`;
  }
  return undefined;
}

function mayNeedMore(stream: TypeStream, to: TypedView): boolean {
  if (stream.inFlight !== undefined) return true;
  const isStillRefused = [...stream.refused].some(
    ([name, version]) => stream.held.has(name) && to.resources.get(name)?.version === version,
  );
  if (isStillRefused) return true;
  if (stream.settled === to) return false;
  return goneOf(stream, wantedOf(stream, to), to).length > 0 || !hasAll(stream, to);
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
