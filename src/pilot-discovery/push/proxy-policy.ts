import type {
  Choice,
  ChosenAnswer,
  Lack,
  SubscriptionPolicy,
  TypeSubscription,
  WrittenAnswer,
} from '../../shared/xds/type-subscription.ts';
import { answerNonce } from './answer-nonce.ts';
import { clientLimits } from './client-limits.ts';
import { areFirst, goneEndpoints, goneOf, mayDrop, neededBy, warmingOf } from './cluster-order.ts';
import { emptyAssignment } from './empty-assignment.ts';
import type { Answer, ProxyKind, ProxyStream } from './proxy-stream.ts';
import { typeUrls, type XdsResource, type XdsType } from './view.ts';
import { viewComparison } from './view-comparison.ts';

const mostEmpty = clientLimits.unknownEndpoints.value;

type Context = ProxyKind['context'];

/**
 * Returns how resources of a type are sent to a proxy. In the state-of-the-world variant an answer
 * has all clusters or all listeners; a client whose first request for them has no names wants all.
 */
export const proxyPolicy = (type: XdsType): SubscriptionPolicy<ProxyKind> => ({
  ...viewComparison,
  wildcard: type === 'cluster' || type === 'listener' ? 'by naming nothing' : 'by asterisk',
  staleNames: 'taken',
  choose: (lack, subscription, context) => chooseAnswer(type, lack, subscription, context),
  write: (answer, before, context) => writeAnswer(type, answer, before, context),
});

function chooseAnswer(
  type: XdsType,
  { changed, gone: allGone, missing: open }: Lack<ProxyKind>,
  subscription: TypeSubscription<ProxyKind>,
  context: Context,
): Choice<ProxyKind> {
  const { state, view } = context;
  const { clientResources, answers, wildcard } = subscription;
  const warms = type === 'cluster' || type === 'endpoint' ? undefined : warmingOf(state, view);
  const missing = open.filter((name) => !clientResources.has(name));
  const isTold = type === 'route' && state.variant === 'delta' && missing.length > 0;
  if (warms !== undefined && !(state.isOverdue && areFirst(type, subscription, changed)))
    return {
      type: 'wait',
      waitsFor: changed.size + allGone.length > 0 || isTold ? warms : undefined,
    };
  const isNew = answers === 0;
  const isWhole = sendsAll(state, type);
  const gone = goneOf(state, type, view[type], allGone);
  const goAtOnce = type !== 'cluster' || (isNew && isWhole) || gone.length === 0;
  const needed = !goAtOnce && changed.size === 0 ? neededBy(state, view) : undefined;
  const removed = goAtOnce || (changed.size === 0 && needed === undefined) ? gone : [];
  const extra =
    type === 'endpoint' ? extraEndpoints(open, missing, clientResources, context) : noExtra;
  const isFirst = isNew && (isWhole ? clientResources.size === 0 : wildcard);
  const count = changed.size + removed.length + extra.given.length;
  const isEarly = mayDrop(state, type, view[type]);
  if (count === 0 && !isTold && !isFirst)
    return gone.length === 0 && !isEarly
      ? { type: 'nothing' }
      : { type: 'wait', waitsFor: isEarly ? 'introduction' : needed };
  const given = extra.given.map((resource) => [resource.name, resource] as const);
  const isOpen = type === 'route' && !isTold;
  return {
    type: 'give',
    given: given.length === 0 ? changed : new Map([...changed, ...given]),
    removed,
    unanswered: isOpen ? missing : extra.unanswered,
    leaves: gone.length === removed.length && !isEarly ? extra.leaves : 'more',
  };
}

/** The endpoints that an answer has in addition to the changes of the view. */
interface ExtraEndpoints {
  readonly given: readonly XdsResource[];
  readonly unanswered: readonly string[];
  readonly leaves: 'nothing' | 'more';
}

const noExtra: ExtraEndpoints = { given: [], unanswered: [], leaves: 'nothing' };

/** `open`: the names without an answer; `missing`: those of them that the proxy does not have. */
function extraEndpoints(
  open: readonly string[],
  missing: readonly string[],
  clientResources: TypeSubscription<ProxyKind>['clientResources'],
  { state, view }: Context,
): ExtraEndpoints {
  const emptied = new Set(goneEndpoints(state, view.endpoint));
  const withoutEndpoints = [...missing, ...emptied];
  const empty = withoutEndpoints.slice(0, mostEmpty).map(emptyAssignment);
  // The proxy got a changed cluster, and waits for these endpoints, but they are no longer in the
  // view. It gets those that it had: the cluster stays until nothing refers to it.
  const again = open.flatMap((name) => wholeIn(clientResources.get(name)));
  // If only their version is known, because the proxy came back with it, they stay unanswered until
  // the view has them again.
  const onlyVersion = open.filter((name) => {
    const clientResource = clientResources.get(name);
    return (
      clientResource !== undefined && wholeIn(clientResource).length === 0 && !emptied.has(name)
    );
  });
  return {
    given: [...again, ...empty],
    unanswered: [...missing.slice(mostEmpty), ...onlyVersion],
    leaves: withoutEndpoints.length <= mostEmpty ? 'nothing' : 'more',
  };
}

function writeAnswer(
  type: XdsType,
  { given, removed, leaves, clientResources }: ChosenAnswer<ProxyKind>,
  before: TypeSubscription<ProxyKind>,
  { state, view }: Context,
): WrittenAnswer<ProxyKind> {
  const { version } = view[type];
  // Only for routes: a requested route that does not exist is reported as removed, even if the
  // proxy never had it.
  const absent =
    type === 'route'
      ? [...before.unanswered].filter(
          (name) => !given.has(name) && !before.clientResources.has(name),
        )
      : [];
  const content = {
    typeUrl: typeUrls[type],
    version: leaves === 'nothing' ? version : `${version}+`,
    resources: sendsAll(state, type)
      ? [...clientResources.values()].flatMap(wholeIn)
      : [...given.values()],
    removed: state.variant === 'delta' ? [...removed, ...absent] : [],
  };
  const nonce = answerNonce(content, before.lastNonce);
  const purpose = before.accepted === undefined ? 'first' : 'change';
  const message: Answer = { ...content, nonce, snapshot: view.snapshot, purpose };
  return { nonce, note: view.snapshot, message };
}

function sendsAll({ variant }: ProxyStream, type: XdsType): boolean {
  return variant === 'state-of-the-world' && (type === 'cluster' || type === 'listener');
}

/** Returns the resource if more than its version is known. */
function wholeIn(
  clientResource: ProxyKind['resource'] | ProxyKind['had'] | undefined,
): XdsResource[] {
  return clientResource !== undefined && 'body' in clientResource ? [clientResource] : [];
}
