import { createHash } from 'node:crypto';
import { emptyAssignment } from './empty-assignment.ts';
import type { Answer, ProxyStream } from './proxy-stream.ts';
import { type Held, type TypeStream, wantedOf } from './type-stream.ts';
import { type TypedView, typeUrls, type View, type XdsResource, type XdsType } from './view.ts';

/** What there is to say of one type now; nothing where something is under way, or has to wait. */
export function answerOf(state: ProxyStream, type: XdsType, view: View): readonly [ProxyStream, Answer | undefined] {
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

function nonceOf({ typeUrl, version, resources, removed }: Omit<Answer, 'nonce' | 'snapshot'>): string {
  const hash = createHash('sha1').update(`${typeUrl}\n${version}\n`);
  for (const resource of resources) hash.update(`${resource.name}\t${resource.version}\n`);
  return hash
    .update(`\n${removed.join('\n')}`)
    .digest('base64url')
    .slice(0, 16);
}
