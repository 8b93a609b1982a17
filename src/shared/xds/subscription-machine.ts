// Why: docs/decisions/087-one-subscription-machine.md
import type { Step } from '../../operators/reduce-with-effects.ts';
import type { EnvoyRequest } from './messages.ts';
import { isAllRefused, isSomeRefused, lackOf, type SubscriptionLack } from './subscription-lack.ts';
import { unsynced, withNames } from './subscription-names.ts';
import type {
  Choice,
  ClientResource,
  SubscriptionEffect,
  SubscriptionEvent,
  SubscriptionKind,
  SubscriptionPolicy,
  TypeSubscription,
} from './type-subscription.ts';

type SubscriptionStep<K extends SubscriptionKind> = Step<
  TypeSubscription<K>,
  SubscriptionEffect<K>
>;

/** The members of a request that count here. */
type RequestParts = Pick<EnvoyRequest, 'nonce' | 'refusal' | 'names'>;

/**
 * Reduces the subscription of one client to one type (xDS v3), in both variants of the protocol.
 * Pure.
 *
 * At most one answer is in flight; newer resources wait for its ACK or NACK. A client is sent what
 * it lacks. A resource that the client NACKed is not sent again until it changes, or until any
 * resource changes (`holdsBack`). The client keeps its previous version of each blamed resource. An
 * ACK or NACK of an older answer is ignored.
 */
export function subscriptionMachine<K extends SubscriptionKind>(
  policy: SubscriptionPolicy<K>,
): (state: TypeSubscription<K>, event: SubscriptionEvent<K>) => SubscriptionStep<K> {
  return (state, event) => {
    switch (event.type) {
      case 'request':
        return requested(policy, state, event.request, event.source);
      case 'offer':
        return offered(policy, state, event.source, event.context);
      case 'again':
        return [again(state, event.names), []];
    }
  };
}

function requested<K extends SubscriptionKind>(
  policy: SubscriptionPolicy<K>,
  before: TypeSubscription<K>,
  request: RequestParts,
  source: K['source'] | undefined,
): SubscriptionStep<K> {
  if (request.names.kind === 'all' && isStale(policy, before, request.nonce)) return [before, []];
  const [judged, verdicts] = withVerdict(policy, before, request);
  const after = withNames(policy, judged, request.names, source);
  const isOther = after.names !== before.names || before.comes === 'not yet';
  return [after, isOther ? [...verdicts, { type: 'asked' }] : verdicts];
}

function isStale<K extends SubscriptionKind>(
  { staleNames }: SubscriptionPolicy<K>,
  { inFlight, lastNonce }: TypeSubscription<K>,
  nonce: string,
): boolean {
  if (nonce === '' || nonce === lastNonce || staleNames === 'taken') return false;
  return staleNames === 'ignored' || inFlight !== undefined;
}

/**
 * Returns the subscription after the ACK or NACK of the answer in flight, if the request is one.
 */
function withVerdict<K extends SubscriptionKind>(
  policy: SubscriptionPolicy<K>,
  before: TypeSubscription<K>,
  { nonce, refusal }: RequestParts,
): SubscriptionStep<K> {
  const { inFlight: answer, wildcard, names } = before;
  if (answer?.nonce !== nonce) return [before, []];
  const { given, syncedAfterAck, note } = answer;
  const answered = { ...before, inFlight: undefined };
  if (refusal === undefined) {
    const stillRefused = [...before.refused].filter(([name]) => !given.has(name));
    const refused =
      stillRefused.length === before.refused.size ? before.refused : new Map(stillRefused);
    const after = { ...answered, refused, syncedSource: syncedAfterAck, accepted: note };
    return [after, [{ type: 'accepted', answer }]];
  }
  const refused = new Map(before.refused);
  const blamed = policy.blamed(answer, refusal.message);
  const clientResources = new Map(before.clientResources);
  for (const name of blamed) {
    refused.set(name, given.get(name));
    const had = answer.before.get(name);
    if (had === undefined || !(wildcard || names.has(name))) clientResources.delete(name);
    else clientResources.set(name, had);
  }
  return [
    { ...answered, clientResources, refused, refusal, syncedSource: undefined },
    [{ type: 'rejected', answer, blamed, refusal }],
  ];
}

/**
 * Marks names as unanswered, so that they are sent again. Names that the client does not want are
 * left out.
 */
function again<K extends SubscriptionKind>(
  before: TypeSubscription<K>,
  names: Iterable<string>,
): TypeSubscription<K> {
  const wanted = [...names].filter((name) => before.wildcard || before.names.has(name));
  return wanted.length === 0
    ? before
    : { ...unsynced(before), unanswered: new Set([...before.unanswered, ...wanted]) };
}

function offered<K extends SubscriptionKind>(
  policy: SubscriptionPolicy<K>,
  state: TypeSubscription<K>,
  source: K['source'],
  context: K['context'],
): SubscriptionStep<K> {
  if (state.comes === 'not yet') return unsent(state, undefined);
  const { syncedSource, inFlight } = state;
  const isSame = (other: K['source'] | undefined) =>
    other !== undefined && policy.isSameSource(other, source);
  const nacked = () => (isSomeRefused(policy, state, source) ? 'NACKed' : undefined);
  if (isSame(syncedSource)) return unsent(state, nacked());
  if (inFlight !== undefined)
    return unsent(state, isSame(inFlight.syncedAfterAck) ? undefined : 'in flight');
  const lack = lackOf(policy, state, source);
  if (policy.holdsBack === 'whole' && isAllRefused(policy, state, lack))
    return unsent({ ...state, syncedSource: source }, 'NACKed');
  const choice = policy.choose(lack, state, context);
  switch (choice.type) {
    case 'wait':
      return unsent(state, choice.waitsFor);
    case 'nothing':
      return policy.holdsBack === 'whole'
        ? unsent({ ...freed(state), syncedSource: source }, undefined)
        : unsent({ ...state, syncedSource: source }, nacked());
    case 'has':
      return unsent(
        {
          ...state,
          clientResources: new Map([...state.clientResources, ...lack.changed]),
          unanswered: new Set(lack.missing),
        },
        undefined,
      );
    case 'give':
      return given(policy, state, source, context, lack, choice);
  }
}

function unsent<K extends SubscriptionKind>(
  state: TypeSubscription<K>,
  waitsFor: Extract<SubscriptionEffect<K>, { type: 'unsent' }>['waitsFor'],
): SubscriptionStep<K> {
  return [state, [{ type: 'unsent', waitsFor }]];
}

/** Forgets the NACKs. Used when the client no longer lacks exactly what it NACKed. */
function freed<K extends SubscriptionKind>(state: TypeSubscription<K>): TypeSubscription<K> {
  return { ...state, refused: new Map(), refusal: undefined };
}

function given<K extends SubscriptionKind>(
  policy: SubscriptionPolicy<K>,
  state: TypeSubscription<K>,
  source: K['source'],
  context: K['context'],
  lack: SubscriptionLack<K>,
  choice: Extract<Choice<K>, { readonly type: 'give' }>,
): SubscriptionStep<K> {
  const clientResources = resourcesAfter(policy, state, lack, choice);
  const { nonce, note, message } = policy.write({ ...choice, clientResources }, state, context);
  const names = [...choice.given.keys(), ...choice.removed];
  const unanswered = new Set(choice.unanswered);
  const isAll = choice.leaves === 'nothing' && unanswered.size === 0;
  const before = new Map(names.map((name) => [name, state.clientResources.get(name)]));
  const after: TypeSubscription<K> = {
    ...(policy.holdsBack === 'whole' ? freed(state) : state),
    ...{
      unanswered,
      clientResources,
      syncedSource: undefined,
      answers: state.answers + 1,
      lastNonce: nonce,
    },
    inFlight: {
      nonce,
      given: choice.given,
      before,
      syncedAfterAck: isAll ? source : undefined,
      note,
    },
  };
  return [after, [{ type: 'answer', message }]];
}

/**
 * Returns the resources that the client has after an answer. If these are all resources of the
 * source, and the policy has `changedNames`, returns the map of the source itself, so that
 * thousands of clients share it.
 */
function resourcesAfter<K extends SubscriptionKind>(
  policy: SubscriptionPolicy<K>,
  state: TypeSubscription<K>,
  lack: SubscriptionLack<K>,
  choice: Extract<Choice<K>, { readonly type: 'give' }>,
): ReadonlyMap<string, ClientResource<K>> {
  if (choice.given.size === lack.changed.size && hasAllThen(policy, state, lack, choice.removed))
    return lack.resources;
  const clientResources = new Map<string, ClientResource<K>>([
    ...state.clientResources,
    ...choice.given,
  ]);
  for (const name of choice.removed) clientResources.delete(name);
  return clientResources;
}

function hasAllThen<K extends SubscriptionKind>(
  policy: SubscriptionPolicy<K>,
  state: TypeSubscription<K>,
  { changed, resources, candidates, wanted }: SubscriptionLack<K>,
  removed: readonly string[],
): boolean {
  if (policy.changedNames === undefined) return false;
  const { clientResources, syncedSource } = state;
  if (candidates !== undefined && syncedSource !== undefined)
    return (
      clientResources === policy.resourcesOf(syncedSource, state) &&
      changed.size + removed.length === candidates.length
    );
  const added = [...changed.keys()].filter((name) => !clientResources.has(name)).length;
  return (
    wanted === resources.size && clientResources.size + added - removed.length === resources.size
  );
}
