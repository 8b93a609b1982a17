import { createHash } from 'node:crypto';
import type { Step } from '../operators/reduce-with-effects.ts';
import type { EnvoyRequest, Variant } from '../xds/messages.ts';
import { emptyAssignment } from './empty-assignment.ts';
import { acknowledged, freshType, type Held, refusedBy, subscribed, type TypeStream, wantedOf } from './type-stream.ts';
import { type TypedView, typeUrls, type View, type XdsResource, type XdsType, xdsTypes } from './view.ts';

/** What happens on the stream of a proxy. */
export type ProxyEvent =
  | { readonly type: 'request'; readonly request: EnvoyRequest }
  /** There is something newer for this proxy. */
  | { readonly type: 'view'; readonly view: View }
  /** The proxy does not read as fast as it is written to; it reads again. */
  | { readonly type: 'full' }
  | { readonly type: 'drained' };

/** What is sent to a proxy. */
export interface Answer {
  readonly typeUrl: string;
  /** A hash of all the rest: equal answers to several proxies are equal to the last byte. */
  readonly nonce: string;
  /** Of all that the proxy has then of this type. */
  readonly version: string;
  readonly resources: readonly XdsResource[];
  /** Names, in the incremental variant alone. */
  readonly removed: readonly string[];
  readonly snapshot: number;
}

/** What is to be done about it. */
export type ProxyEffect =
  | { readonly type: 'answer'; readonly answer: Answer }
  | { readonly type: 'accepted'; readonly typeUrl: string; readonly nonce: string; readonly snapshot: number }
  | {
      readonly type: 'rejected';
      readonly typeUrl: string;
      readonly nonce: string;
      readonly blamed: readonly XdsResource[];
      readonly reason: string;
    }
  /** Somebody asks for a type that is not served. */
  | { readonly type: 'unknown-type'; readonly typeUrl: string }
  | { readonly type: 'end'; readonly reason: string };

export interface ProxyStream {
  readonly variant: Variant;
  /** It has said who it is. */
  readonly isKnown: boolean;
  readonly view: View | undefined;
  readonly isFull: boolean;
  readonly types: Readonly<Record<XdsType, TypeStream>>;
  /** Clusters that have come or changed, whose endpoints the proxy has not accepted since. */
  readonly warming: ReadonlySet<string>;
  /** Types that are not served, and the answers that were given: they are empty. */
  readonly unknown: ReadonlySet<string>;
}

/** A stream before its first request. */
export function freshProxy(variant: Variant): ProxyStream {
  const types = { cluster: freshType, endpoint: freshType, listener: freshType, route: freshType };
  return { variant, isKnown: false, view: undefined, isFull: false, types, warming: new Set(), unknown: new Set() };
}

/** Envoy asks for each cluster by name; more names than that are no proxy's. */
const mostNames = 10_000;

type ProxyStep = Step<ProxyStream, ProxyEffect>;

/**
 * The aggregated discovery protocol (xDS v3) with one proxy, in both variants. Pure.
 *
 * One answer of a type is under way at a time, and has what differs from what the proxy has;
 * clusters and listeners are told as a whole in the state-of-the-world variant. Clusters come
 * first, then endpoints, listeners, routes. What listeners and routes say is changed when the
 * proxy has accepted the clusters they may need, with their endpoints; and clusters go when it has
 * accepted listeners and routes that need them no more. What a proxy refuses it is not given again
 * in that version.
 *
 * A cluster that has changed is followed by its endpoints, even by equal ones: Envoy 1.36 waits for
 * them for ever.
 */
export function reduceProxy(state: ProxyStream, event: ProxyEvent): ProxyStep {
  switch (event.type) {
    case 'request':
      return request(state, event.request);
    case 'view':
      return flush({ ...state, view: event.view }, []);
    case 'full':
      return [{ ...state, isFull: true }, []];
    case 'drained':
      return flush({ ...state, isFull: false }, []);
  }
}

function request(before: ProxyStream, asked: EnvoyRequest): ProxyStep {
  const { node, typeUrl, nonce, refusal, names } = asked;
  if (!before.isKnown && (node?.id ?? '') === '') return [before, [{ type: 'end', reason: 'the first request has no node id' }]];
  const count = names.kind === 'all' ? names.names.length : names.add.length;
  if (count > mostNames) return [before, [{ type: 'end', reason: `it asks for ${count} names, and ${mostNames} are the limit` }]];
  const state = { ...before, isKnown: true };
  const type = xdsTypes.find((one) => typeUrls[one] === typeUrl);
  if (type === undefined) return unserved(state, typeUrl);

  const effects: ProxyEffect[] = [];
  let stream = state.types[type];
  let { warming } = state;
  const { inFlight } = stream;
  if (nonce === inFlight?.nonce) {
    if (refusal === undefined) {
      stream = acknowledged(stream);
      effects.push({ type: 'accepted', typeUrl, nonce, snapshot: inFlight.snapshot });
    } else {
      const [after, blamed] = refusedBy(stream, refusal.message);
      stream = after;
      effects.push({ type: 'rejected', typeUrl, nonce, blamed, reason: refusal.message });
    }
    if (type === 'endpoint') warming = without(warming, inFlight.given);
  }
  const mayBeAll = type === 'cluster' || type === 'listener';
  stream = subscribed(stream, asked, mayBeAll, state.view?.[type]);
  return flush({ ...state, warming, types: { ...state.types, [type]: stream } }, effects);
}

/** A type that nobody serves is answered once, by nothing, so that the proxy does not wait. */
function unserved(state: ProxyStream, typeUrl: string): ProxyStep {
  if (state.unknown.has(typeUrl)) return [state, []];
  const unknown = new Set(state.unknown).add(typeUrl);
  const answer: Answer = { typeUrl, nonce: 'none', version: '', resources: [], removed: [], snapshot: state.view?.snapshot ?? 0 };
  return [
    { ...state, unknown },
    [
      { type: 'unknown-type', typeUrl },
      { type: 'answer', answer },
    ],
  ];
}

function flush(first: ProxyStream, before: readonly ProxyEffect[]): ProxyStep {
  const { view } = first;
  if (view === undefined || first.isFull) return [first, before];
  let state = first;
  const effects = [...before];
  for (const type of xdsTypes) {
    const [after, answer] = answerOf(state, type, view);
    state = after;
    if (answer !== undefined) effects.push({ type: 'answer', answer });
  }
  return [state, effects];
}

/** What there is to say of one type now; nothing where something is under way, or has to wait. */
function answerOf(state: ProxyStream, type: XdsType, view: View): readonly [ProxyStream, Answer | undefined] {
  const stream = state.types[type];
  const to = view[type];
  if (!stream.isAsked || stream.inFlight !== undefined || stream.settled === to) return [state, undefined];
  const wanted = wantedOf(stream, to);
  const isNew = stream.answers === 0;
  const mayChange = isNew || type === 'cluster' || type === 'endpoint' || isWarm(state);
  const changed = [...wanted.values()].filter(({ name, version }) => {
    if (stream.fresh.has(name)) return true;
    return mayChange && stream.held.get(name)?.version !== version;
  });
  const missing = [...stream.fresh].filter((name) => !wanted.has(name) && !stream.held.has(name));
  const gone = mayChange ? goneOf(stream, wanted, view[type]) : [];
  const mayGo = type !== 'cluster' || isNew || (changed.length === 0 && needsNoMore(state, view));
  const removed = mayGo ? gone : [];
  const empty = type === 'endpoint' ? missing.map(emptyAssignment) : [];
  const absent = type === 'route' && state.variant === 'delta' ? missing : [];
  const isWhole = state.variant === 'state-of-the-world' && (type === 'cluster' || type === 'listener');
  const isNeeded =
    changed.length > 0 || removed.length > 0 || empty.length > 0 || absent.length > 0 || (isNew && (isWhole || stream.wildcard));
  if (!isNeeded) {
    const isSettled = mayChange && gone.length === 0;
    return [withType(state, type, { ...stream, ...(isSettled && { settled: to }) }), undefined];
  }

  const given = [...changed, ...empty];
  const held = new Map(stream.held);
  const had = new Map<string, Held | undefined>();
  for (const resource of given) {
    had.set(resource.name, held.get(resource.name));
    held.set(resource.name, resource);
  }
  for (const name of removed) {
    had.set(name, held.get(name));
    held.delete(name);
  }
  const resources = isWhole ? [...held.values()].filter((one): one is XdsResource => one.body !== undefined) : given;
  const said = {
    typeUrl: typeUrls[type],
    version: gone.length === removed.length ? to.version : `${to.version}+`,
    resources,
    removed: state.variant === 'delta' ? [...removed, ...absent] : [],
  };
  const nonce = nonceOf(said);
  const answer: Answer = { ...said, nonce, snapshot: view.snapshot };
  const fresh = new Set([...stream.fresh].filter((name) => missing.includes(name) && type === 'route' && absent.length === 0));
  const next: TypeStream = {
    ...stream,
    fresh,
    held,
    answers: stream.answers + 1,
    inFlight: { nonce, snapshot: view.snapshot, given, before: had },
    settled: undefined,
  };
  return [type === 'cluster' ? withClusters(state, next, changed, removed, view) : withType(state, type, next), answer];
}

/** What the client has, and is not to have any more. Of what it names it knows that itself. */
function goneOf(
  { wildcard, names, held, refused }: TypeStream,
  wanted: ReadonlyMap<string, XdsResource>,
  { resources }: TypedView,
): readonly string[] {
  if (!wildcard || held.size === 0) return [];
  return [...held.keys()].filter((name) => !wanted.has(name) && !names.has(name) && !(refused.has(name) && resources.has(name)));
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
  const followed = changed.map(({ name }) => name).filter((name) => view.endpoint.resources.has(name));
  const warming = new Set([...state.warming, ...followed]);
  for (const name of removed) warming.delete(name);
  const again = followed.filter((name) => endpoint.names.has(name));
  const fresh = new Set([...endpoint.fresh, ...again]);
  return {
    ...state,
    warming,
    types: { ...state.types, cluster, endpoint: again.length === 0 ? endpoint : { ...endpoint, fresh, settled: undefined } },
  };
}

/** Whether each cluster has its endpoints, so that others may refer to it. */
function isWarm({ types: { cluster, endpoint }, warming }: ProxyStream): boolean {
  if (cluster.inFlight !== undefined && cluster.inFlight.given.length > 0) return false;
  return endpoint.inFlight === undefined && (!endpoint.isAsked || warming.size === 0);
}

/** Whether listeners and routes are accepted that need nothing but what is in the view. */
function needsNoMore({ types }: ProxyStream, view: View): boolean {
  return (['listener', 'route'] as const).every((type) => {
    const stream = types[type];
    if (!stream.isAsked) return true;
    if (stream.inFlight !== undefined) return false;
    if (stream.settled === view[type]) return true;
    const wanted = wantedOf(stream, view[type]);
    return (
      goneOf(stream, wanted, view[type]).length === 0 &&
      [...wanted].every(([name, { version }]) => stream.held.get(name)?.version === version)
    );
  });
}

function withType(state: ProxyStream, type: XdsType, stream: TypeStream): ProxyStream {
  return { ...state, types: { ...state.types, [type]: stream } };
}

function without(names: ReadonlySet<string>, given: readonly XdsResource[]): ReadonlySet<string> {
  if (names.size === 0) return names;
  const left = new Set(names);
  for (const { name } of given) left.delete(name);
  return left;
}

function nonceOf({ typeUrl, version, resources, removed }: Omit<Answer, 'nonce' | 'snapshot'>): string {
  const hash = createHash('sha1').update(`${typeUrl}\n${version}\n`);
  for (const resource of resources) hash.update(`${resource.name}\t${resource.version}\n`);
  return hash
    .update(`\n${removed.join('\n')}`)
    .digest('base64url')
    .slice(0, 16);
}
