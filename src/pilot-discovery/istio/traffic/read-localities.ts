import type { Failover, LocalitySettings, ZoneSettings } from './destination-rule.ts';
import { firstOverlaps } from '../fields/first-overlaps.ts';
import {
  below,
  boolean,
  list,
  maybe,
  members,
  named,
  needed,
  type Place,
  type ReadMember,
  whole,
  wrong,
} from '../fields/members.ts';

/** Reads how requests are distributed by the localities of the sender and of the endpoints. */
export const localities: ReadMember<LocalitySettings> = (value, place) =>
  members(value, place, [], (get) => {
    const distribute = get(
      'distribute',
      list((entry, entryPlace) =>
        members(entry, entryPlace, [], (entryMember) => ({
          from: entryMember('from', needed),
          to: entryMember('to', named(whole(1, 100))),
        })),
      ),
    );
    const placeOf = (step: string) => below(place, step);
    checkPlaces(distribute.map(({ from }, index) => [from, placeOf(`distribute[${index}].from`)]));
    distribute.forEach(({ to }, index) => {
      const within = placeOf(`distribute[${index}].to`);
      checkPlaces(Object.keys(to).map((name) => [name, below(within, name)]));
      const sum = Object.values(to).reduce<number>((total, weight) => total + (weight ?? 0), 0);
      if (sum !== 100) wrong(within, `the weights make ${sum}, and not 100`);
    });
    const failover = get('failover', failovers);
    if (distribute.length > 0 && failover.length > 0)
      wrong(place, 'distribute and failover exclude each other: leave one out');
    const failoverPriority = get('failoverPriority', list(needed));
    failoverPriority.forEach((label, index) => {
      if (failover.length > 0 && labelsOfPlace.has(label))
        wrong(
          below(place, `failoverPriority[${index}]`),
          `failover and the label ${label} exclude each other: leave one out`,
        );
    });
    return {
      enabled: get('enabled', boolean),
      distribute: distribute.map(({ from, to }) => ({
        from,
        to: Object.fromEntries(Object.entries(to).map(([name, weight]) => [name, weight ?? 0])),
      })),
      failover,
      failoverPriority,
    };
  });

/** Failover compares the places that these labels name. */
const labelsOfPlace: ReadonlySet<string> = new Set([
  'topology.kubernetes.io/region',
  'topology.kubernetes.io/zone',
  'topology.istio.io/subzone',
]);

/** Reads whether Envoy prefers its own zone. */
export const zones: ReadMember<ZoneSettings> = (value, place) =>
  members(value, place, [], (get) => {
    const enabled = get('enabled', boolean);
    const minClusterSize = get('minClusterSize', maybe(whole(1, 2 ** 31 - 1)));
    const [failover, failoverPriority] = [
      get('failover', failovers),
      get('failoverPriority', list(needed)),
    ];
    if (enabled === false) return { preference: 'none' };
    // Envoy's own default is 6 too.
    return {
      preference: 'own-zone',
      minClusterSize: minClusterSize ?? 6,
      failover,
      failoverPriority,
    };
  });

const failovers: ReadMember<readonly Failover[]> = (value, place) => {
  const all = list((entry, entryPlace) =>
    members(entry, entryPlace, [], (entryMember) => ({
      from: entryMember('from', region),
      to: entryMember('to', region),
    })),
  )(value, place);
  all.forEach(({ from, to }, index) => {
    if (from === to)
      wrong(
        below(place, `[${index}].to`),
        `'${to}' is the region that fails over: name another one`,
      );
  });
  return all;
};

const region: ReadMember<string> = (value, place) => {
  const read = needed(value, place);
  if (/[/*]/.test(read)) wrong(place, `'${read}' is not a region: give its name alone`);
  return read;
};

/** Returns a text with which all localities within a locality begin. */
function beginningOf(locality: string): string {
  const prefix = locality.replace(/\/?\*$/, '');
  return prefix === '' ? '' : `${prefix}/`;
}

/** Checks `region/zone/subzone`, whose last part may be `*`. No locality may be within another. */
function checkPlaces(places: readonly (readonly [locality: string, place: Place])[]): void {
  const earlier = firstOverlaps(places.map(([locality]) => beginningOf(locality)));
  places.forEach(([locality, place], index) => {
    if (
      locality.slice(0, -1).includes('*') ||
      (locality.endsWith('*') && locality !== '*' && !locality.endsWith('/*'))
    )
      wrong(place, `'${locality}' has a * that is not its last part`);
    const before = places[earlier[index] ?? -1];
    if (before !== undefined)
      wrong(place, `'${locality}' and '${before[0]}' overlap: leave one out`);
  });
}
