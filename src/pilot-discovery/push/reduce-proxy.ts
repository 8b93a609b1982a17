// Why: docs/decisions/071-clusters-before-listeners.md
import type { Step } from '../../operators/reduce-with-effects.ts';
import type { EnvoyRequest } from '../../shared/xds/messages.ts';
import { subscriptionMachine } from '../../shared/xds/subscription-machine.ts';
import { secretTypeUrl } from '../../shared/xds/secret-names.ts';
import { clientLimits } from './client-limits.ts';
import { proxyPolicy } from './proxy-policy.ts';
import {
  type ProxyEffect,
  type ProxyEvent,
  type ProxyStream,
  type ProxySubscription,
  withType,
} from './proxy-stream.ts';
import { requestFlaw } from './request-flaw.ts';
import { secretOffers } from './secret-offers.ts';
import { subscriptionOutcome } from './subscription-outcome.ts';
import { unservedType } from './unserved-type.ts';
import { typeUrls, type View, type XdsType, xdsTypes } from './view.ts';

const mostNames = clientLimits.names.value;
const mostSecrets = clientLimits.secrets.value;

const step = {
  cluster: subscriptionMachine(proxyPolicy('cluster')),
  endpoint: subscriptionMachine(proxyPolicy('endpoint')),
  listener: subscriptionMachine(proxyPolicy('listener')),
  route: subscriptionMachine(proxyPolicy('route')),
};

const stepSecrets = subscriptionMachine(secretOffers);

export type ProxyStep = Step<ProxyStream, ProxyEffect>;

/**
 * Runs the aggregated discovery protocol (xDS v3) for one proxy, in both variants. Pure.
 *
 * At most one answer of a type is in flight. It has the resources that differ from those of the
 * proxy; in the state-of-the-world variant it has all clusters or all listeners. Clusters come
 * first, then endpoints, listeners, routes. Listeners and routes are sent when the proxy has ACKed
 * the clusters that they may need, with their endpoints. Clusters are removed when it has ACKed
 * listeners and routes that no longer need them. A resource version that the proxy NACKed is not
 * sent again. If a proxy comes back with an older version in the state-of-the-world variant, its
 * clusters are unknown: those that are not in the view are removed at once.
 *
 * The endpoints of a changed cluster are sent after it, even if they are equal: Envoy 1.36 waits
 * for them forever.
 */
export function reduceProxy(state: ProxyStream, event: ProxyEvent): ProxyStep {
  switch (event.type) {
    case 'request':
      return request(state, event.request);
    case 'view':
      return offeredSecrets(...flush({ ...state, view: event.view }, []));
    case 'secrets':
      return offeredSecrets({ ...state, secretView: event.view }, []);
    case 'warmed':
      return flush({ ...state, warming: new Set(), isOverdue: true }, []);
    case 'introduced':
      return flush({ ...state, isIntroduced: true }, []);
  }
}

function request(before: ProxyStream, request: EnvoyRequest): ProxyStep {
  const { node, typeUrl, nonce } = request;
  if (!before.isKnown && (node?.id ?? '') === '')
    return [before, [{ type: 'end', fault: 'shape', reason: 'the first request has no node id' }]];
  const flaw = requestFlaw(request);
  if (flaw !== undefined) return [before, [{ type: 'end', fault: 'limit', reason: flaw }]];
  const state = { ...before, isKnown: true };
  if (typeUrl === secretTypeUrl) return secretsRequested(state, request);
  const type = xdsTypes.find((name) => typeUrls[name] === typeUrl);
  if (type === undefined) return unservedType(state, request, state.view?.snapshot ?? 0);

  const subscription = state.types[type];
  const [asking, outcomes] = step[type](subscription, {
    type: 'request',
    request,
    source: state.view?.[type],
  });
  if (Math.max(asking.names.size, asking.clientResources.size) > mostNames)
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
  const effects = outcomes.flatMap((outcome) =>
    subscriptionOutcome(typeUrl, asking.names, outcome),
  );
  const isAnswer = nonce === subscription.inFlight?.nonce;
  if (type === 'cluster') {
    // An Envoy does not warm clusters that it NACKed.
    const nacked = outcomes.flatMap((outcome) =>
      outcome.type === 'rejected' ? outcome.blamed : [],
    );
    const warming = without(state.warming, nacked);
    const isOverdue = state.isOverdue && !isAnswer;
    return flush(withType({ ...state, warming, isOverdue }, type, asking), effects);
  }
  if (type !== 'endpoint') return flush(withType(state, type, asking), effects);
  const warming = isAnswer ? cooled(state.warming, subscription) : state.warming;
  return flush(
    withType({ ...state, warming }, type, awaited(subscription, asking, warming)),
    effects,
  );
}

function secretsRequested(before: ProxyStream, request: EnvoyRequest): ProxyStep {
  const source = before.secretView;
  const [secrets, outcomes] = stepSecrets(before.secrets, { type: 'request', request, source });
  if (secrets.names.size > mostSecrets) {
    const reason = `it names more than ${mostSecrets} secrets, which is the limit`;
    return [before, [{ type: 'end', fault: 'limit', reason }]];
  }
  const effects = outcomes.flatMap((outcome) =>
    subscriptionOutcome(secretTypeUrl, secrets.names, outcome),
  );
  // While the proxy names no secret, none is followed. The last view may be old when it names one
  // again, so it is dropped.
  const secretView = secrets.names.size === 0 ? undefined : source;
  return offeredSecrets({ ...before, secrets, secretView }, effects);
}

/** Sends the secrets that the proxy lacks. They wait for nothing, and nothing waits for them. */
function offeredSecrets(state: ProxyStream, before: readonly ProxyEffect[]): ProxyStep {
  const { secretView: source, view } = state;
  if (source === undefined || view === undefined) return [state, before];
  const offer = { type: 'offer', source, context: { state, view } } as const;
  const [secrets, [outcome]] = stepSecrets(state.secrets, offer);
  const effects =
    outcome?.type === 'answer'
      ? [...before, { type: 'answer', answer: outcome.message } as const]
      : before;
  return [{ ...state, secrets }, effects];
}

/**
 * Removes from `warming` the clusters whose endpoints the proxy has ACKed, and thus used. It has
 * not used endpoints that it no longer subscribes to, and may soon subscribe to them again.
 */
function cooled(
  warming: ReadonlySet<string>,
  { inFlight, names }: ProxySubscription,
): ReadonlySet<string> {
  const used = [...(inFlight?.given.keys() ?? [])].filter((name) => names.has(name));
  return without(warming, used);
}

/**
 * Marks endpoints to be sent again. The proxy had them when it connected, but waits for them
 * because their cluster has changed.
 */
function awaited(
  before: ProxySubscription,
  after: ProxySubscription,
  warming: ReadonlySet<string>,
): ProxySubscription {
  if (before.comes !== 'not yet') return after;
  const names = [...warming].filter((name) => after.names.has(name));
  return step.endpoint(after, { type: 'again', names })[0];
}

function flush(first: ProxyStream, before: readonly ProxyEffect[]): ProxyStep {
  const { view } = first;
  if (view === undefined) return [first, before];
  return xdsTypes.reduce<ProxyStep>(
    ([state, effects], type) => {
      const [after, more] = offered(state, type, view);
      return [after, [...effects, ...more]];
    },
    [first, before],
  );
}

/** Sends the resources of one type that the proxy lacks, or emits why they are not sent now. */
function offered(before: ProxyStream, type: XdsType, view: View): ProxyStep {
  const [subscription, [outcome]] = step[type](before.types[type], {
    type: 'offer',
    source: view[type],
    context: { state: before, view },
  });
  const state = subscription === before.types[type] ? before : withType(before, type, subscription);
  const isAnswer = outcome?.type === 'answer';
  const waitsFor = outcome?.type === 'unsent' ? outcome.waitsFor : undefined;
  const isOther = waitsFor !== state.waitsFor[type];
  const after = isOther ? { ...state, waitsFor: { ...state.waitsFor, [type]: waitsFor } } : state;
  if (isAnswer)
    return [
      type === 'cluster' ? withWarming(after, view) : after,
      [{ type: 'answer', answer: outcome.message }],
    ];
  return [after, isOther ? [{ type: 'unsent', typeUrl: typeUrls[type], waitsFor }] : []];
}

/** Marks the endpoints of added and changed clusters to be sent again. */
function withWarming(state: ProxyStream, view: View): ProxyStream {
  const { cluster, endpoint } = state.types;
  const { inFlight } = cluster;
  const given = [...(inFlight?.given.keys() ?? [])];
  const followed = given.filter((name) => view.endpoint.resources.has(name));
  const before = [...(inFlight?.before.keys() ?? [])];
  const removed = before.filter((name) => inFlight?.given.has(name) !== true);
  const warming = without(new Set([...state.warming, ...followed]), removed);
  const names = followed.filter((name) => endpoint.names.has(name));
  const [again] = step.endpoint(endpoint, { type: 'again', names });
  return { ...withType(state, 'endpoint', again), isOverdue: false, warming };
}

function without(names: ReadonlySet<string>, gone: readonly string[]): ReadonlySet<string> {
  if (names.size === 0) return names;
  const left = new Set(names);
  for (const name of gone) left.delete(name);
  return left;
}
