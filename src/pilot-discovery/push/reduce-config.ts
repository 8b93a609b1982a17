// Why: docs/decisions/114-control-planes-read-from-this-one.md
import type { Step } from '../../operators/reduce-with-effects.ts';
import type { EnvoyRequest } from '../../shared/xds/messages.ts';
import { secretTypeUrl } from '../../shared/xds/secret-names.ts';
import { subscriptionMachine } from '../../shared/xds/subscription-machine.ts';
import { newSubscription } from '../../shared/xds/type-subscription.ts';
import { clientLimits } from './client-limits.ts';
import { configOffers } from './config-offers.ts';
import type { ConfigStream, ConfigType } from './config-stream.ts';
import type { ConfigView } from './config-view.ts';
import type { ProxyEffect } from './proxy-stream.ts';
import { requestFlaw } from './request-flaw.ts';
import { subscriptionOutcome } from './subscription-outcome.ts';
import { unservedType } from './unserved-type.ts';

/** An event on the stream of another control plane. */
export type ReaderEvent =
  | { readonly type: 'request'; readonly request: EnvoyRequest }
  /** There are newer resources. */
  | { readonly type: 'config'; readonly view: ConfigView };

type ConfigStep = Step<ConfigStream, ProxyEffect>;

const step = subscriptionMachine(configOffers);
const mostNames = clientLimits.names.value;
/**
 * The limit of requests before the first view. It covers types that are served and types that are
 * not.
 */
const mostWaiting = 2 * clientLimits.unservedTypes.value;
const unasked: ConfigType = { subscription: newSubscription(), waitsFor: undefined };

/**
 * Runs the discovery protocol (xDS v3) for another control plane, in both variants. Each type
 * waits only for its own ACKs. Requests wait for the first view, because the view says which types
 * are served. Pure.
 */
export function reduceConfig(state: ConfigStream, event: ReaderEvent): ConfigStep {
  switch (event.type) {
    case 'request':
      return state.view === undefined
        ? waiting(state, event.request)
        : answered(state, state.view, event.request);
    case 'config': {
      const { view } = event;
      const first = offeredAll({ ...state, view, waiting: [] }, view);
      return state.waiting.reduce<ConfigStep>(
        ([before, effects], early) => joined(effects, answered(before, view, early)),
        first,
      );
    }
  }
}

const joined = (effects: readonly ProxyEffect[], [state, more]: ConfigStep): ConfigStep => [
  state,
  [...effects, ...more],
];

function waiting(state: ConfigStream, request: EnvoyRequest): ConfigStep {
  const flaw =
    requestFlaw(request) ??
    (state.waiting.length === mostWaiting
      ? `it sends more than ${mostWaiting} requests before the first answer`
      : undefined);
  return flaw === undefined
    ? [{ ...state, waiting: [...state.waiting, request] }, []]
    : [state, [{ type: 'end', fault: 'limit', reason: flaw }]];
}

function answered(state: ConfigStream, view: ConfigView, request: EnvoyRequest): ConfigStep {
  const flaw = requestFlaw(request);
  if (flaw !== undefined) return [state, [{ type: 'end', fault: 'limit', reason: flaw }]];
  const { typeUrl } = request;
  if (typeUrl === secretTypeUrl)
    return [state, [{ type: 'end', fault: 'shape', reason: 'a control plane gets no secrets' }]];
  const source = view.types.get(typeUrl);
  if (source === undefined) return unservedType(state, request, view.snapshot);
  const before = state.types.get(typeUrl) ?? unasked;
  const [subscription, outcomes] = step(before.subscription, {
    type: 'request',
    request,
    source,
  });
  const { names, clientResources } = subscription;
  if (Math.max(names.size, clientResources.size) > mostNames) {
    const reason = `it follows more than ${mostNames} resources, which is the limit`;
    return [state, [{ type: 'end', fault: 'limit', reason }]];
  }
  const effects = outcomes.flatMap((outcome) => subscriptionOutcome(typeUrl, names, outcome));
  const types = new Map(state.types).set(typeUrl, { ...before, subscription });
  return joined(effects, offered({ ...state, types }, typeUrl, view));
}

function offeredAll(first: ConfigStream, view: ConfigView): ConfigStep {
  return [...first.types.keys()].reduce<ConfigStep>(
    ([state, effects], typeUrl) => joined(effects, offered(state, typeUrl, view)),
    [first, []],
  );
}

/** Sends the resources of a type that the client lacks, or emits why they are not sent now. */
function offered(state: ConfigStream, typeUrl: string, view: ConfigView): ConfigStep {
  const before = state.types.get(typeUrl);
  const source = view.types.get(typeUrl);
  if (before === undefined || source === undefined) return [state, []];
  const context = { typeUrl, variant: state.variant, view };
  const [subscription, [outcome]] = step(before.subscription, { type: 'offer', source, context });
  const waitsFor = outcome?.type === 'unsent' ? outcome.waitsFor : undefined;
  const types = new Map(state.types).set(typeUrl, { subscription, waitsFor });
  if (outcome?.type === 'answer')
    return [{ ...state, types }, [{ type: 'answer', answer: outcome.message }]];
  const isOther = waitsFor !== before.waitsFor;
  return [{ ...state, types }, isOther ? [{ type: 'unsent', typeUrl, waitsFor }] : []];
}
