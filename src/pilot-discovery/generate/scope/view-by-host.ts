import { changedKeys, SortedMap } from '../../../shared/maps/sorted-map.ts';
import { type Environment, hostOf, serviceKey } from '../../environment/environment.ts';
import { isWildcard, isWithin } from '../../istio/fields/wildcard-host.ts';
import type { XdsResource } from '../../push/view.ts';
import { noResources, type SortedView, withResources } from '../encoding/encode-resource.ts';
import { type Derived, derivedTable, hold, release, type Uses, withUses } from './memo.ts';
import type { Services, VisibleService } from './visible-services.ts';

/** The resources of one service, and the memo entries that were used for them. */
interface Part {
  readonly resources: readonly XdsResource[];
  readonly uses: Uses;
}

interface Parts {
  readonly byHost: SortedMap<Part>;
  readonly view: SortedView;
}

/** The sources that change often: parts are made again only for the services that are affected. */
type Sources = readonly [
  endpoints: Environment['endpoints'],
  destinationRules: Environment['destinationRules'],
];

interface Inputs {
  readonly services: Services;
  readonly make: (service: VisibleService) => readonly XdsResource[];
}

/** Returns a view of the resources of services. */
export type ViewByHost = (
  environment: Environment,
  services: Services,
  /** All other inputs of the resources: objects, which are compared by identity, and a text. */
  objects: readonly object[],
  text: string,
  /**
   * Makes the resources of a service only from it, these inputs, its endpoints, and its
   * DestinationRule.
   */
  make: Inputs['make'],
) => SortedView;

/**
 * Makes views of the resources of services. After a change of endpoints or of DestinationRules,
 * only the affected services are made again.
 */
export function viewByHost(): ViewByHost {
  const table = derivedTable<Sources, Parts, Inputs>(partsAfter, ({ byHost }) => {
    for (const { uses } of byHost.values()) release(uses);
  });
  return ({ endpoints, destinationRules }, services, objects, text, make) =>
    table([services, ...objects], text, [endpoints, destinationRules], { services, make }).view;
}

const noParts: Parts = { byHost: SortedMap.empty(), view: noResources };

function partsAfter(
  last: Derived<Sources, Parts> | undefined,
  sources: Sources,
  { services, make }: Inputs,
): Parts {
  const before = last?.value ?? noParts;
  const hosts =
    last === undefined ? services.keys() : touchedHosts(services, last.sources, sources);
  const parts: (readonly [string, Part])[] = [];
  for (const host of hosts) {
    const service = services.get(host);
    if (service === undefined) continue;
    const [resources, uses] = withUses(() => make(service));
    parts.push([host, { resources, uses }]);
  }
  const old = parts.flatMap(([host]) => before.byHost.get(host) ?? []);
  for (const [, { uses }] of parts) hold(uses);
  for (const { uses } of old) release(uses);
  const edits = new Map<string, XdsResource | undefined>();
  for (const { resources } of old) for (const { name } of resources) edits.set(name, undefined);
  // If several have the same name, the first one is used.
  for (const [, { resources }] of parts)
    for (const resource of resources.toReversed()) edits.set(resource.name, resource);
  return { byHost: before.byHost.with(parts), view: withResources(before.view, edits) };
}

/** Returns the services whose endpoints or whose DestinationRule may have changed. */
function touchedHosts(
  services: Services,
  [endpoints, rules]: Sources,
  [endpointsNow, rulesNow]: Sources,
): ReadonlySet<string> {
  const hosts = new Set<string>();
  for (const key of changedKeys(endpoints, endpointsNow)) {
    const service = services.get(hostOf(key));
    if (service !== undefined && serviceKey(service) === key) hosts.add(service.host);
  }
  for (const host of changedKeys(rules, rulesNow)) {
    if (services.has(host)) hosts.add(host);
    if (!isWildcard(host)) continue;
    for (const name of services.keys()) if (isWithin(name, host)) hosts.add(name);
  }
  return hosts;
}
