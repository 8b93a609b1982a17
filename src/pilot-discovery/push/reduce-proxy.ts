// Why: docs/decisions/071-clusters-before-listeners.md
import type { Step } from '../../operators/reduce-with-effects.ts';
import type { EnvoyRequest } from '../../shared/xds/messages.ts';
import { answerOf } from './answer-of.ts';
import { clientLimits } from './client-limits.ts';
import {
  type Answer,
  type ProxyEffect,
  type ProxyEvent,
  type ProxyStream,
  withType,
} from './proxy-stream.ts';
import { acknowledged, refusedBy, subscribed, type TypeStream, unsettled } from './type-stream.ts';
import { typeUrls, xdsTypes } from './view.ts';

/** A proxy asks for a few types that are not served, such as secrets. */
const mostUnknown = clientLimits.unservedTypes.value;
const mostNames = clientLimits.names.value;
/** In characters. */
const longestName = clientLimits.text.value;

export type ProxyStep = Step<ProxyStream, ProxyEffect>;

/**
 * The aggregated discovery protocol (xDS v3) with one proxy, in both variants. Pure.
 *
 * One answer of a type is under way at a time, and has what differs from what the proxy has;
 * clusters and listeners are told as a whole in the state-of-the-world variant. Clusters come
 * first, then endpoints, listeners, routes. What listeners and routes say is changed when the
 * proxy has accepted the clusters they may need, with their endpoints; and clusters go when it has
 * accepted listeners and routes that need them no more. What a proxy refuses it is not given again
 * in that version. (In the state-of-the-world variant nobody knows which clusters a proxy has that
 * comes back with an older version: those go at once.)
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
    case 'warmed':
      return flush({ ...state, warming: new Set(), isOverdue: true }, []);
    case 'introduced':
      return flush({ ...state, isIntroduced: true }, []);
  }
}

function request(before: ProxyStream, asked: EnvoyRequest): ProxyStep {
  const { node, typeUrl, nonce, refusal } = asked;
  if (!before.isKnown && (node?.id ?? '') === '')
    return [before, [{ type: 'end', fault: 'shape', reason: 'the first request has no node id' }]];
  const flaw = sizeFlaw(asked);
  if (flaw !== undefined) return [before, [{ type: 'end', fault: 'limit', reason: flaw }]];
  const state = { ...before, isKnown: true };
  const type = xdsTypes.find((one) => typeUrls[one] === typeUrl);
  if (type === undefined) return unserved(state, asked);

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
    // What it does not ask for it has not used: it may be about to ask for it again.
    if (type === 'endpoint')
      warming = without(
        warming,
        inFlight.given
          .map(({ name }) => name)
          .filter((name) => before.types.endpoint.names.has(name)),
      );
  }
  const mayBeAll = type === 'cluster' || type === 'listener';
  const isFirst = !stream.isAsked;
  stream = subscribed(stream, asked, mayBeAll, state.view?.[type]);
  if (Math.max(stream.names.size, stream.held.size) > mostNames)
    return [
      before,
      [
        {
          type: 'end',
          fault: 'limit',
          reason: `it follows more than ${mostNames} resources, which is the limit`,
        },
      ],
    ];
  if (isFirst || stream.names !== before.types[type].names)
    effects.push({ type: 'asked', typeUrl, names: stream.names });
  if (type === 'endpoint' && isFirst) stream = awaited(stream, warming);
  return flush(withType({ ...state, warming }, type, stream), effects);
}

/** Why a request is no proxy's; undefined if it may be. Each list of it is counted. */
function sizeFlaw({ node, typeUrl, names }: EnvoyRequest): string | undefined {
  const longest = Math.max(typeUrl.length, node?.id.length ?? 0);
  if (longest > longestName)
    return `its type or node id has ${longest} characters, and ${longestName} are the limit`;
  const lists =
    names.kind === 'all' ? [names.names] : [names.add, names.remove, Object.keys(names.versions)];
  const count = Math.max(...lists.map(({ length }) => length));
  return count > mostNames
    ? `it names ${count} resources, and ${mostNames} are the limit`
    : undefined;
}

/** Endpoints that a proxy has, but waits for, since their cluster has changed meanwhile. */
function awaited(stream: TypeStream, warming: ReadonlySet<string>): TypeStream {
  const waited = [...warming].filter((name) => stream.names.has(name));
  return waited.length === 0
    ? stream
    : { ...stream, ...unsettled(stream), fresh: new Set([...stream.fresh, ...waited]) };
}

/** A type that nobody serves is answered once, by nothing, so that the proxy does not wait. */
function unserved(state: ProxyStream, { typeUrl, names }: EnvoyRequest): ProxyStep {
  if (state.unknown.has(typeUrl)) return [state, []];
  if (state.unknown.size === mostUnknown)
    return [
      state,
      [
        {
          type: 'end',
          fault: 'limit',
          reason: `it asks for more than ${mostUnknown} types that are not served`,
        },
      ],
    ];
  const unknown = new Set(state.unknown).add(typeUrl);
  const answer: Answer = {
    typeUrl,
    nonce: 'none',
    version: '',
    resources: [],
    removed: [],
    snapshot: state.view?.snapshot ?? 0,
  };
  return [
    { ...state, unknown },
    [
      { type: 'asked', typeUrl, names: new Set(names.kind === 'all' ? names.names : names.add) },
      { type: 'unknown-type', typeUrl },
      { type: 'answer', answer },
    ],
  ];
}

function flush(first: ProxyStream, before: readonly ProxyEffect[]): ProxyStep {
  const { view } = first;
  if (view === undefined) return [first, before];
  let state = first;
  const effects = [...before];
  for (const type of xdsTypes) {
    const [after, outcome] = answerOf(state, type, view);
    const waitsFor = outcome.type === 'answer' ? undefined : outcome.waitsFor;
    const stream = after.types[type];
    const isOther = waitsFor !== stream.waitsFor;
    state = isOther ? withType(after, type, { ...stream, waitsFor }) : after;
    if (outcome.type === 'answer') effects.push(outcome);
    else if (isOther) effects.push({ type: 'unsent', typeUrl: typeUrls[type], waitsFor });
  }
  return [state, effects];
}

function without(names: ReadonlySet<string>, gone: readonly string[]): ReadonlySet<string> {
  if (names.size === 0) return names;
  const left = new Set(names);
  for (const name of gone) left.delete(name);
  return left;
}
