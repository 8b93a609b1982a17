import type { LocalitySettings } from './destination-rule.ts';
import {
  below,
  boolean,
  list,
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
    const failover = get(
      'failover',
      list((entry, entryPlace) =>
        members(entry, entryPlace, [], (entryMember) => ({
          from: entryMember('from', region),
          to: entryMember('to', region),
        })),
      ),
    );
    failover.forEach(({ from, to }, index) => {
      if (from === to)
        wrong(
          placeOf(`failover[${index}].to`),
          `'${to}' is the region that fails over: name another one`,
        );
    });
    if (distribute.length > 0 && failover.length > 0)
      wrong(place, 'distribute and failover exclude each other: leave one out');
    return {
      enabled: get('enabled', boolean),
      distribute: distribute.map(({ from, to }) => ({
        from,
        to: Object.fromEntries(Object.entries(to).map(([name, weight]) => [name, weight ?? 0])),
      })),
      failover,
      failoverPriority: get('failoverPriority', list(needed)),
    };
  });

const region: ReadMember<string> = (value, place) => {
  const read = needed(value, place);
  if (/[/*]/.test(read)) wrong(place, `'${read}' is no region: give its name alone`);
  return read;
};

/** Checks `region/zone/subzone`, whose last part may be `*`. No locality may be within another. */
function checkPlaces(places: readonly (readonly [locality: string, place: Place])[]): void {
  places.forEach(([locality, place], index) => {
    if (
      locality.slice(0, -1).includes('*') ||
      (locality.endsWith('*') && locality !== '*' && !locality.endsWith('/*'))
    )
      wrong(place, `'${locality}' has a * that is not its last part`);
    const before = places
      .slice(0, index)
      .find(([earlier]) => isPlaceWithin(locality, earlier) || isPlaceWithin(earlier, locality));
    if (before !== undefined)
      wrong(place, `'${locality}' and '${before[0]}' overlap: leave one out`);
  });
}

function isPlaceWithin(inner: string, outer: string): boolean {
  const prefix = outer.replace(/\/?\*$/, '');
  return prefix === '' || inner === prefix || inner.startsWith(`${prefix}/`);
}
