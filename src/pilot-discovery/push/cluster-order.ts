// Why: docs/decisions/071-clusters-before-listeners.md
import { lackOf } from '../../shared/xds/subscription-lack.ts';
import type { ProxyStream, ProxySubscription } from './proxy-stream.ts';
import type { TypedView, View, XdsResource, XdsType } from './view.ts';
import { viewComparison } from './view-comparison.ts';

/**
 * What listeners and routes wait for: a proxy has to have each cluster, with its endpoints, before
 * others refer to it. Undefined if it has them. Pure.
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
 * Whether these are the first listeners of a proxy, or routes that it has nothing of. A client that
 * has not ACKed its clusters in time is given those: it may be one that never does. Pure.
 */
export function areFirst(
  type: XdsType,
  { held }: ProxySubscription,
  changed: ReadonlyMap<string, XdsResource>,
): boolean {
  return type === 'listener'
    ? held.size === 0
    : [...changed.keys()].every((name) => !held.has(name));
}

/**
 * What clusters that go wait for: the listeners and routes that are ACKed may need nothing but what
 * is in the view. One that was NACKed goes on as it was, and may need more. Undefined if nothing
 * needs more. Pure.
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
  const { inFlight, refused, held, settled } = subscription;
  if (inFlight !== undefined) return true;
  const isStillRefused = [...refused].some(
    ([name, own]) =>
      own !== undefined && held.has(name) && to.resources.get(name)?.version === own.version,
  );
  if (isStillRefused) return true;
  if (settled === to) return false;
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

/** What the client has and is not to have any more. It knows that itself of what it names. Pure. */
export function goneOf({ names }: ProxySubscription, gone: readonly string[]): readonly string[] {
  return gone.filter((name) => !names.has(name));
}
