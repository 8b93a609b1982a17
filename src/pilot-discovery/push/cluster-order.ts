// Why: docs/decisions/071-clusters-before-listeners.md
import { lackOf } from '../../shared/xds/subscription-lack.ts';
import type { ProxyStream, ProxySubscription } from './proxy-stream.ts';
import type { TypedView, View, XdsResource, XdsType } from './view.ts';
import { isEmptyAssignment } from './empty-assignment.ts';
import { viewComparison } from './view-comparison.ts';

/**
 * Returns what listeners and routes wait for: a proxy must have each cluster, with its endpoints,
 * before listeners and routes refer to it. Undefined if it has them. Pure.
 */
export function warmingOf(
  { types: { cluster, endpoint }, warming, isOverdue }: ProxyStream,
  view: View,
): 'clusters' | 'endpoints' | undefined {
  if (cluster.inFlight !== undefined && cluster.inFlight.given.size > 0) return 'clusters';
  const isAsked = cluster.comes !== 'not yet';
  if (isAsked && cluster.syncedSource !== view.cluster && !hasAll(cluster, view.cluster))
    return 'clusters';
  const isWarm =
    endpoint.inFlight === undefined &&
    ![...warming].some((name) => view.endpoint.resources.has(name));
  return isWarm || isOverdue ? undefined : 'endpoints';
}

/**
 * Returns whether these are the first listeners of a proxy, or only routes that it does not have. A
 * client that did not ACK its clusters in time gets such resources anyway: it may never ACK. Pure.
 */
export function areFirst(
  type: XdsType,
  { clientResources }: ProxySubscription,
  changed: ReadonlyMap<string, XdsResource>,
): boolean {
  return type === 'listener'
    ? clientResources.size === 0
    : [...changed.keys()].every((name) => !clientResources.has(name));
}

/**
 * Returns what removals of clusters wait for; undefined if they need not wait. Clusters are removed
 * once the listeners and routes that the proxy has ACKed need nothing outside the view. Envoy keeps
 * the earlier version of a resource that it NACKed, and that version may need more. Pure.
 */
export function neededBy(
  state: ProxyStream,
  view: View,
): 'listeners' | 'routes' | 'introduction' | undefined {
  for (const type of ['listener', 'route'] as const) {
    const isAsked = state.types[type].comes !== 'not yet';
    if (!isAsked && !state.isIntroduced) return 'introduction';
    if (isAsked && mayNeedMore(state, type, view[type])) return `${type}s`;
  }
  return undefined;
}

function mayNeedMore(state: ProxyStream, type: XdsType, to: TypedView): boolean {
  const subscription = state.types[type];
  const { inFlight, refused, clientResources, syncedSource: syncedView } = subscription;
  if (inFlight !== undefined) return true;
  const isStillRefused = [...refused].some(
    ([name, nackedResource]) =>
      nackedResource !== undefined &&
      clientResources.has(name) &&
      to.resources.get(name)?.version === nackedResource.version,
  );
  if (isStillRefused) return true;
  if (syncedView === to) return false;
  return (
    goneOf(state, type, to, lackOf(viewComparison, subscription, to).gone).length > 0 ||
    !hasAll(subscription, to)
  );
}

function hasAll(subscription: ProxySubscription, to: TypedView): boolean {
  return [...lackOf(viewComparison, subscription, to).changed].every(
    ([name, { version }]) => subscription.clientResources.get(name)?.version === version,
  );
}

/**
 * Returns the names to remove from the resources of the client: those of a wildcard that are gone,
 * and those that it subscribed to. The latter stay if the client may drop them itself, because it
 * gets the type that refers to them. Endpoints are not removed: they are sent empty. Pure.
 */
export function goneOf(
  state: ProxyStream,
  type: XdsType,
  to: TypedView,
  gone: readonly string[],
): readonly string[] {
  const { names } = state.types[type];
  const unnamed = gone.filter((name) => !names.has(name));
  const isRemoved = type !== 'endpoint' && (type !== 'route' || state.variant === 'delta');
  return isRemoved && !mayRefer(state, type) ? [...unnamed, ...namedOf(state, type, to)] : unnamed;
}

/** Returns the endpoints that a client has and that are gone, and that are not empty yet. Pure. */
export function goneEndpoints(state: ProxyStream, to: TypedView): readonly string[] {
  return mayRefer(state, 'endpoint') ? [] : namedOf(state, 'endpoint', to);
}

/**
 * Returns whether names that a client subscribed to are gone, and the client may still drop them
 * itself: a client that comes back may subscribe later to the type that refers to them. Pure.
 */
export function mayDrop(state: ProxyStream, type: XdsType, to: TypedView): boolean {
  return !state.isIntroduced && mayRefer(state, type) && namedOf(state, type, to).length > 0;
}

/**
 * Whether a client gets resources that refer to those of a type. Then the client itself drops the
 * endpoints of a removed cluster, and the routes of a removed listener.
 */
function mayRefer({ types, isIntroduced }: ProxyStream, type: XdsType): boolean {
  const from = {
    cluster: undefined,
    endpoint: 'cluster',
    listener: undefined,
    route: 'listener',
  } as const;
  const referring = from[type];
  return referring !== undefined && (!isIntroduced || types[referring].comes !== 'not yet');
}

/** Returns the names that a client subscribed to and has, and that are gone. */
function namedOf(
  { types }: ProxyStream,
  type: XdsType,
  { resources }: TypedView,
): readonly string[] {
  const { names, clientResources } = types[type];
  return [...names].filter((name) => {
    const clientResource = clientResources.get(name);
    const clientHasIt = clientResource !== undefined && !isEmptyAssignment(clientResource);
    return clientHasIt && !resources.has(name);
  });
}
