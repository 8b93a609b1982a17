import type { Json } from './json.ts';

/** The same, with the members of each object by name: what is told in another order is no change. Pure. */
export function sorted<T extends Json>(json: T): T;
export function sorted(json: Json): Json {
  if (Array.isArray(json)) return (json as readonly Json[]).map((item) => sorted(item));
  if (typeof json !== 'object' || json === null) return json;
  const members = Object.entries(json).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(members.map(([name, value]) => [name, sorted(value)]));
}
