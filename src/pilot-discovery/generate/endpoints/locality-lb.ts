import { networkLabel } from '../../istio/fields/network-label.ts';
import type { LocalitySettings } from '../../istio/traffic/destination-rule.ts';
import type { Labels } from '../../istio/fields/values.ts';
import type { Endpoint } from '../../environment/environment.ts';
import type { ProxyNode } from '../scope/proxy-node.ts';
import { ownMember } from '../../../shared/text/own-member.ts';
import type { LocalityPolicy } from '../scope/locality-policy.ts';
import type { ReachEndpoints, ReachedEndpoint } from './network-gateways.ts';

/** The place of a proxy among endpoints. */
export type LocalityPlace = Pick<ProxyNode, 'locality' | 'labels' | 'network'>;

/** Endpoints of one locality with the same priority. */
export interface Placed {
  readonly locality: string;
  /** Priority 0 is used first. */
  readonly priority: number;
  /** 0 if it has no endpoints. */
  readonly weight: number;
  readonly endpoints: readonly ReachedEndpoint[];
}

/**
 * Returns endpoints by locality, for a policy and a proxy at a place. If `distribute` has weights
 * for the locality of the proxy, those apply. Else, if failover is active, the nearest endpoints
 * come first.
 */
export function placed(
  endpoints: readonly Endpoint[],
  { settings, failover, tiers }: LocalityPolicy,
  place: LocalityPlace,
  reach: ReachEndpoints,
): readonly Placed[] {
  const localities = byLocality(endpoints, reach);
  if (settings.enabled === false) return localities;
  const share = settings.distribute.find(({ from }) => isWithinLocality(place.locality, from));
  if (share !== undefined) return distributed(localities, share.to);
  if (settings.distribute.length > 0 || failover === 'inactive') return localities;
  return prioritized(localities, settings, tiers, place);
}

function byLocality(endpoints: readonly Endpoint[], reach: ReachEndpoints): readonly Placed[] {
  const reached = [...groupedBy(endpoints, ({ locality }) => locality)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([locality, group]) => [locality, reach(group)] as const);
  const scale = scaleOf(reached.map(([, group]) => group));
  return reached.map(([locality, group]) => {
    const scaled = scale === 1 ? group : group.map((endpoint) => withWeight(endpoint, scale));
    return { locality, priority: 0, weight: sumOf(scaled), endpoints: scaled };
  });
}

/** Envoy rejects endpoints whose weights have a larger sum. */
const mostWeight = 2 ** 32 - 1;

/** Returns the factor that reduces weights in proportion, if their sum is too large. */
function scaleOf(groups: readonly (readonly ReachedEndpoint[])[]): number {
  const sum = groups.reduce((before, group) => before + sumOf(group), 0);
  const count = groups.reduce((before, { length }) => before + length, 0);
  return sum <= mostWeight ? 1 : (mostWeight - count) / sum;
}

const withWeight = (endpoint: ReachedEndpoint, scale: number): ReachedEndpoint => ({
  ...endpoint,
  weight: Math.max(1, Math.floor(endpoint.weight * scale)),
});

const sumOf = (endpoints: readonly ReachedEndpoint[]): number =>
  endpoints.reduce((sum, { weight }) => sum + Math.max(1, weight), 0);

/** Returns whether a locality matches `region/zone/*`; `*` matches any. */
function isWithinLocality(locality: string, pattern: string): boolean {
  const parts = locality.split('/');
  return pattern
    .split('/')
    .every((part, index) => part === '*' || part === '' || part === parts[index]);
}

/** Divides each share by weight among its localities; others get nothing. */
function distributed(
  localities: readonly Placed[],
  to: Readonly<Record<string, number>>,
): readonly Placed[] {
  const shares = new Map<Placed, number>();
  for (const [pattern, share] of Object.entries(to)) {
    const matching = localities.filter(
      (group) => !shares.has(group) && isWithinLocality(group.locality, pattern),
    );
    const total = matching.reduce((sum, { weight }) => sum + weight, 0);
    for (const group of matching)
      shares.set(group, total === 0 ? share : Math.ceil((group.weight * share) / total));
  }
  return localities.map((group) => {
    const weight = shares.get(group);
    return weight === undefined ? { ...group, endpoints: [] } : { ...group, weight };
  });
}

/**
 * Sorts the nearest first: by the labels of `failoverPriority` that match those of the proxy, then
 * by distance.
 */
function prioritized(
  localities: readonly Placed[],
  { failover, failoverPriority }: LocalitySettings,
  tiers: LocalityPolicy['tiers'],
  place: LocalityPlace,
): readonly Placed[] {
  const wanted = failoverPriority.map((text) => wantedLabel(text, place));
  const distance = (locality: string): number =>
    tiers === 'localities' && wanted.length > 0 && failover.length === 0
      ? 0
      : distanceOf(locality, place.locality, failover, tiers);
  const split = localities.flatMap(({ locality, endpoints }): Placed[] => {
    const far = distance(locality);
    if (endpoints.length === 0) return [{ locality, priority: far, weight: 0, endpoints }];
    return [...groupedBy(endpoints, ({ labels }) => unmet(labels, wanted) * levels + far)].map(
      ([priority, group]) => ({
        locality,
        priority,
        weight: sumOf(group),
        endpoints: group,
      }),
    );
  });
  // Envoy requires priorities without gaps.
  const used = [...new Set(split.map(({ priority }) => priority))].sort((a, b) => a - b);
  return split.map((group) => ({ ...group, priority: used.indexOf(group.priority) })).sort(byPlace);
}

function byPlace(a: Placed, b: Placed): number {
  return a.locality === b.locality ? a.priority - b.priority : a.locality < b.locality ? -1 : 1;
}

/** A priority is a multiple of this number plus a distance, which must be less than this number. */
const levels = 8;

function distanceOf(
  locality: string,
  from: string,
  failover: LocalitySettings['failover'],
  tiers: LocalityPolicy['tiers'],
): number {
  const [region = '', zone = '', subzone = ''] = locality.split('/');
  const [ownRegion = '', ownZone = '', ownSubzone = ''] = from.split('/');
  if (region !== ownRegion) {
    const next = failover.find((entry) => entry.from === ownRegion);
    return next === undefined || next.to === region ? 3 : 4;
  }
  if (tiers === 'regions') return 0;
  if (zone !== ownZone) return 2;
  return subzone === ownSubzone ? 0 : 1;
}

interface WantedLabel {
  readonly name: string;
  readonly value: string;
}

/** Returns the label to match: `name` has the value of the proxy, `name=value` that value. */
function wantedLabel(text: string, place: LocalityPlace): WantedLabel {
  const [name = '', value] = text.split('=');
  return { name, value: value ?? ownMember(placeLabels(place), name) ?? '' };
}

/** Counts the labels from the first one that does not match to the last. */
function unmet(labels: Labels, wanted: readonly WantedLabel[]): number {
  const first = wanted.findIndex(({ name, value }) => (ownMember(labels, name) ?? '') !== value);
  return first === -1 ? 0 : wanted.length - first;
}

function placeLabels({ locality, labels, network }: LocalityPlace): Labels {
  const [region = '', zone = '', subzone = ''] = locality.split('/');
  return {
    'topology.kubernetes.io/region': region,
    'topology.kubernetes.io/zone': zone,
    'topology.istio.io/subzone': subzone,
    [networkLabel]: network,
    ...labels,
  };
}

function groupedBy<K>(
  endpoints: readonly ReachedEndpoint[],
  nameOf: (endpoint: ReachedEndpoint) => K,
): ReadonlyMap<K, readonly ReachedEndpoint[]> {
  const groups = new Map<K, ReachedEndpoint[]>();
  for (const endpoint of endpoints) {
    const name = nameOf(endpoint);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [endpoint]);
    else group.push(endpoint);
  }
  return groups;
}
