import { isIPv6 } from 'node:net';
import type { Environment } from '../environment/environment.ts';
import { entriesBy } from '../environment/grouped.ts';
import { standsForOwn } from './clusters/inbound-clusters.ts';
import { memoTable } from './scope/memo.ts';
import type { ProxyNode } from './scope/proxy-node.ts';
import { labelsOfPlaces } from './scope/scope.ts';
import { sidecarOf } from './scope/sidecar-of.ts';
import { canonicalLabels, namesServices } from './listeners/tracing.ts';

/**
 * Names the class of a proxy: everything that affects what the proxy receives. Two proxies of one
 * class receive the same. Pure.
 *
 * A label is part of the class only if a resource or a span uses it, and an address only if it has
 * an endpoint, or if a Sidecar uses the addresses of the proxy.
 */
export function classOf(environment: Environment, node: ProxyNode): string {
  const { labels, addresses, serviceAccount } = node;
  const keys = new Set([
    ...labelsLookedAt(environment),
    ...(node.role === 'router' ? labelsOfGateways(environment) : []),
  ]);
  const usedLabels = Object.entries(labels)
    .filter(([key]) => keys.has(key))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const servedAddresses = addresses.filter((address) => isServed(environment, address));
  // If each endpoint has a listener, the proxy's first address has none, so the class contains
  // whether that is an endpoint.
  const first = servedAddresses.length > 0 && servedAddresses[0] === addresses[0];
  const ingress = sidecarOf(environment, node)?.spec.ingress ?? [];
  const meant = ingress.some(
    ({ bind, defaultEndpoint }) => bind === '' || standsForOwn(defaultEndpoint),
  );
  const rest = [
    usedLabels,
    servedAddresses,
    first,
    servedAddresses.length > 0 ? serviceAccount : '',
    meant ? addresses : [],
    namesServices(environment.mesh) ? node.cluster : '',
  ];
  return `${alwaysRelevant(node)}${JSON.stringify(rest)}`;
}

const texts = new WeakMap<ProxyNode, string>();

/** Returns what affects a proxy in each environment, as a text. */
function alwaysRelevant(node: ProxyNode): string {
  const cachedText = texts.get(node);
  if (cachedText !== undefined) return cachedText;
  const { role, namespace, dnsDomain, interception, locality, network, clusterId, tls } = node;
  const { addresses, ownPorts, bindable, http10, exactBalance, meshId, tracing } = node;
  const { networkView, credentials, ownCluster } = node;
  const families = addresses.map((address) => (isIPv6(address) ? 'v6' : 'v4'));
  const text = JSON.stringify([
    ...[role, namespace, dnsDomain, interception, locality, network, networkView, clusterId, tls],
    ...[ownPorts, bindable, http10, exactBalance, families, meshId, tracing ?? null],
    credentials,
    ownCluster,
  ]);
  texts.set(node, text);
  return text;
}

const isServed = ({ served }: Environment, address: string): boolean =>
  entriesBy(served, address).next().done !== true;

const ofGateways = memoTable<readonly string[]>();

/** Returns the names of labels that Gateways use: they do not affect sidecars. */
const labelsOfGateways = ({ gateways }: Environment): readonly string[] =>
  ofGateways([gateways], '', () => [
    ...new Set(
      [...gateways.values()].flat().flatMap(({ spec }) => Object.keys(spec.selector ?? {})),
    ),
  ]);

const names = memoTable<ReadonlySet<string>>();

/** Returns the names of labels that a resource uses. */
function labelsLookedAt(environment: Environment): ReadonlySet<string> {
  const { virtualServices, destinationRules, sidecars } = environment;
  const { peerAuthentications, accessPolicies, telemetries } = environment;
  const ofPlaces = labelsOfPlaces(environment);
  const parts = [
    ...[virtualServices, destinationRules, peerAuthentications],
    ...[accessPolicies, telemetries, sidecars],
    ofPlaces,
  ];
  return names(parts, '', () => {
    const keys = new Set<string>([...canonicalLabels, ...ofPlaces]);
    const look = (labels: Readonly<Record<string, string>> | undefined) =>
      Object.keys(labels ?? {}).forEach((key) => keys.add(key));
    for (const { spec } of virtualServices)
      for (const { match } of [...spec.http, ...spec.tls, ...spec.tcp])
        for (const { sourceLabels } of match) look(sourceLabels);
    for (const rules of destinationRules.values())
      for (const { spec } of rules) look(spec.workloadSelector);
    for (const policies of peerAuthentications.values())
      for (const { spec } of policies) look(spec.selector);
    for (const policies of accessPolicies.values())
      for (const { spec } of policies) look(spec.selector);
    for (const group of telemetries.values()) for (const { spec } of group) look(spec.selector);
    for (const group of sidecars.values())
      for (const { spec } of group) look(spec.workloadSelector);
    return keys;
  });
}
