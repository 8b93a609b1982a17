import type { SubscriptionPolicy } from '../../shared/xds/type-subscription.ts';
import { answerNonce } from './answer-nonce.ts';
import { clientLimits } from './client-limits.ts';
import { areFirst, goneEndpoints, goneOf, mayDrop, neededBy, warmingOf } from './cluster-order.ts';
import { emptyAssignment } from './empty-assignment.ts';
import type { Answer, ProxyKind, ProxyStream } from './proxy-stream.ts';
import { typeUrls, type XdsResource, type XdsType } from './view.ts';
import { viewComparison } from './view-comparison.ts';

const mostEmpty = clientLimits.unknownEndpoints.value;

/**
 * Returns how resources of a type are sent to a proxy. In the state-of-the-world variant an answer
 * has all clusters or all listeners; a client whose first request for them has no names wants all.
 */
export const proxyPolicy = (type: XdsType): SubscriptionPolicy<ProxyKind> => ({
  ...viewComparison,
  wildcard: type === 'cluster' || type === 'listener' ? 'by naming nothing' : 'by asterisk',
  staleNames: 'taken',
  choose({ changed, gone: allGone, missing: open }, subscription, { state, view }) {
    const { clientResources, answers, wildcard } = subscription;
    const warms = type === 'cluster' || type === 'endpoint' ? undefined : warmingOf(state, view);
    if (warms !== undefined && !(state.isOverdue && areFirst(type, subscription, changed)))
      return { type: 'wait', waitsFor: changed.size > 0 ? warms : undefined };
    const isNew = answers === 0;
    const isWhole = isToldWhole(state, type);
    const gone = goneOf(state, type, view[type], allGone);
    const goAtOnce = type !== 'cluster' || (isNew && isWhole) || gone.length === 0;
    const needed = !goAtOnce && changed.size === 0 ? neededBy(state, view) : undefined;
    const removed = goAtOnce || (changed.size === 0 && needed === undefined) ? gone : [];
    const missing = open.filter((name) => !clientResources.has(name));
    const emptied = new Set(type === 'endpoint' ? goneEndpoints(state, view.endpoint) : []);
    const withoutEndpoints = type === 'endpoint' ? [...missing, ...emptied] : [];
    const empty = withoutEndpoints.slice(0, mostEmpty).map(emptyAssignment);
    // Endpoints that are no longer in the view: their clusters have changed, and go as soon as
    // nothing refers to them.
    const again =
      type === 'endpoint' ? open.flatMap((name) => wholeIn(clientResources.get(name))) : [];
    // If only their version is known, because the proxy came back with it, they stay unanswered
    // until the view has them again.
    const onlyVersion = open.filter((name) => {
      const clientResource = clientResources.get(name);
      return (
        clientResource !== undefined && wholeIn(clientResource).length === 0 && !emptied.has(name)
      );
    });
    const isTold = type === 'route' && state.variant === 'delta' && missing.length > 0;
    const isFirst = isNew && (isWhole ? clientResources.size === 0 : wildcard);
    const count = changed.size + removed.length + empty.length + again.length;
    const isEarly = mayDrop(state, type, view[type]);
    if (count === 0 && !isTold && !isFirst)
      return gone.length === 0 && !isEarly
        ? { type: 'nothing' }
        : { type: 'wait', waitsFor: isEarly ? 'introduction' : needed };
    const extra = [...again, ...empty].map((resource) => [resource.name, resource] as const);
    const isOpen = type === 'route' && !isTold;
    return {
      type: 'give',
      given: extra.length === 0 ? changed : new Map([...changed, ...extra]),
      removed,
      unanswered:
        type === 'endpoint' ? [...missing.slice(mostEmpty), ...onlyVersion] : isOpen ? missing : [],
      leaves:
        gone.length === removed.length && withoutEndpoints.length <= mostEmpty && !isEarly
          ? 'nothing'
          : 'more',
    };
  },
  write({ given, removed, leaves, clientResources }, before, { state, view }) {
    const { version } = view[type];
    // Only routes: a name for which there is no route is answered if the proxy has nothing under
    // it.
    const absent =
      type === 'route'
        ? [...before.unanswered].filter(
            (name) => !given.has(name) && !before.clientResources.has(name),
          )
        : [];
    const said = {
      typeUrl: typeUrls[type],
      version: leaves === 'nothing' ? version : `${version}+`,
      resources: isToldWhole(state, type)
        ? [...clientResources.values()].flatMap(wholeIn)
        : [...given.values()],
      removed: state.variant === 'delta' ? [...removed, ...absent] : [],
    };
    const hash = answerNonce(said);
    // A request with new names repeats the last nonce, and must not look like an ACK of this
    // answer.
    const nonce = hash === before.lastNonce ? `${hash}+` : hash;
    const message: Answer = { ...said, nonce, snapshot: view.snapshot };
    return { nonce, note: view.snapshot, message };
  },
});

function isToldWhole({ variant }: ProxyStream, type: XdsType): boolean {
  return variant === 'state-of-the-world' && (type === 'cluster' || type === 'listener');
}

/** Returns the resource if more than its version is known. */
function wholeIn(
  clientResource: ProxyKind['resource'] | ProxyKind['had'] | undefined,
): XdsResource[] {
  return clientResource !== undefined && 'body' in clientResource ? [clientResource] : [];
}
