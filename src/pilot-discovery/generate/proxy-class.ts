import { isIPv6 } from 'node:net';
import type { Environment } from '../environment/environment.ts';
import { standsForOwn } from './clusters/inbound-clusters.ts';
import type { ProxyNode } from './scope/proxy-node.ts';
import { labelsOfPlaces } from './scope/scope.ts';
import { sidecarOf } from './scope/sidecar-of.ts';
import { canonicalLabels } from './listeners/tracing.ts';

/**
 * Names the class of a proxy: all that what it is given depends on. Two proxies of one class are
 * given the same. Pure.
 *
 * Labels count where a resource or a span looks at one of them; addresses where something is served
 * there, or where a Sidecar means them.
 */
export function classOf(environment: Environment, node: ProxyNode): string {
  const {
    role,
    namespace,
    dnsDomain,
    interception,
    locality,
    network,
    clusterId,
    tls,
    labels,
    addresses,
    serviceAccount,
    ownPorts,
    bindable,
    http10,
    exactBalance,
  } = node;
  const { keys, served } = lookedAt(environment);
  const seen = Object.entries(labels)
    .filter(([key]) => keys.has(key))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const own = addresses.filter((address) => served.has(address));
  // The first address is told apart: no listener for an endpoint takes it.
  const first = own.length > 0 && own[0] === addresses[0];
  const ingress = sidecarOf(environment, node)?.spec.ingress ?? [];
  const meant = ingress.some(
    ({ bind, defaultEndpoint }) => bind === '' || standsForOwn(defaultEndpoint),
  );
  const families = addresses.map((address) => (isIPv6(address) ? 'v6' : 'v4'));
  return JSON.stringify([
    role,
    namespace,
    dnsDomain,
    interception,
    locality,
    network,
    clusterId,
    tls,
    ownPorts,
    bindable,
    http10,
    exactBalance,
    seen,
    own,
    first,
    families,
    own.length > 0 ? serviceAccount : '',
    meant ? addresses : [],
  ]);
}

interface LookedAt {
  readonly keys: ReadonlySet<string>;
  readonly served: ReadonlySet<string>;
}

const known = new WeakMap<Environment, LookedAt>();

/** The names of labels that a resource looks at, and the addresses at which something is served. */
function lookedAt(environment: Environment): LookedAt {
  const found = known.get(environment);
  if (found !== undefined) return found;
  const keys = new Set<string>([...canonicalLabels, ...labelsOfPlaces(environment)]);
  const served = new Set<string>();
  const look = (labels: Readonly<Record<string, string>> | undefined) =>
    Object.keys(labels ?? {}).forEach((key) => keys.add(key));
  for (const { spec } of environment.virtualServices)
    for (const { match } of spec.http) for (const { sourceLabels } of match) look(sourceLabels);
  for (const rules of environment.destinationRules.values())
    for (const { spec } of rules) look(spec.workloadSelector);
  for (const policies of environment.peerAuthentications.values())
    for (const { spec } of policies) look(spec.selector);
  for (const policies of environment.accessPolicies.values())
    for (const { spec } of policies) look(spec.selector);
  for (const sidecars of environment.sidecars.values())
    for (const { spec } of sidecars) look(spec.workloadSelector);
  for (const ports of environment.endpoints.values())
    for (const endpoints of ports.values())
      for (const { address } of endpoints) served.add(address);
  const made = { keys, served };
  known.set(environment, made);
  return made;
}
