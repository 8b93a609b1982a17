// Why: docs/decisions/071-clusters-before-listeners.md
import { lackOf } from '../../shared/xds/subscription-lack.ts';
import type { ProxyStream, ProxySubscription } from './proxy-stream.ts';
import type { TypedView, View, XdsResource, XdsType } from './view.ts';
import { viewComparison } from './view-comparison.ts';

/**
 * Returns what listeners and routes wait for: a proxy must have each cluster, with its endpoints,
 * before listeners and routes refer to it. Undefined if it has them. Pure.
 */
export function warmingOf(
  { types: { cluster, endpoint }, warming }: ProxyStream,
  view: View,
): 'clusters' | 'endpoints' | undefined {
  if (cluster.inFlight !== undefined && cluster.inFlight.given.size > 0) return 'clusters';
  const isAsked = cluster.comes !== 'not yet';
  if (isAsked && cluster.settled !== view.cluster && !hasAll(cluster, view.cluster))
    return 'clusters';
  const isWarm =
    endpoint.inFlight === undefined &&
    ![...warming].some((name) => view.endpoint.resources.has(name));
  return isWarm ? undefined : 'endpoints';
}

/**
 * Returns whether these are the first listeners of a proxy, or routes of which it has none. A
 * client that did not ACK its clusters in time gets them anyway: it may never ACK. Pure.
 */
export function areFirst(
  type: XdsType,
  { held: clientResources }: ProxySubscription,
  changed: ReadonlyMap<string, XdsResource>,
): boolean {
  return type === 'listener'
    ? clientResources.size === 0
    : [...changed.keys()].every((name) => !clientResources.has(name));
}

/**
 * Returns what removals of clusters wait for: the listeners and routes that the proxy has ACKed may
 * only need what is in the view. Envoy keeps the earlier version of one that it NACKed, and that
 * version may need more. Undefined if nothing needs more. Pure.
 */
export function neededBy(
  { types, isIntroduced }: ProxyStream,
  view: View,
): 'listeners' | 'routes' | 'introduction' | undefined {
  for (const type of ['listener', 'route'] as const) {
    const subscription = types[type];
    const isAsked = subscription.comes !== 'not yet';
    if (!isAsked && !isIntroduced) return 'introduction';
    if (isAsked && mayNeedMore(subscription, view[type])) return `${type}s`;
  }
  return undefined;
}

function mayNeedMore(subscription: ProxySubscription, to: TypedView): boolean {
  const { inFlight, refused, held: clientResources, settled: settledView } = subscription;
  if (inFlight !== undefined) return true;
  const isStillRefused = [...refused].some(
    ([name, nackedResource]) =>
      nackedResource !== undefined &&
      clientResources.has(name) &&
      to.resources.get(name)?.version === nackedResource.version,
  );
  if (isStillRefused) return true;
  if (settledView === to) return false;
  return (
    goneOf(subscription, lackOf(viewComparison, subscription, to).gone).length > 0 ||
    !hasAll(subscription, to)
  );
}

function hasAll(subscription: ProxySubscription, to: TypedView): boolean {
  return [...lackOf(viewComparison, subscription, to).changed].every(
    ([name, { version }]) => subscription.held.get(name)?.version === version,
  );
}

/**
 * Returns the names to remove from what the client has. Names that it subscribed to are not among
 * them: the client itself drops those. Pure.
 */
export function goneOf({ names }: ProxySubscription, gone: readonly string[]): readonly string[] {
  return gone.filter((name) => !names.has(name));
}
