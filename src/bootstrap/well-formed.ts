import type { Json } from './json.ts';

/** The same, without members that are undefined, and without halves of surrogate pairs, which Envoy's JSON parser refuses. Pure. */
export function wellFormed<T extends Json>(json: T): T;
export function wellFormed(json: Json): Json {
  if (typeof json === 'string') return json.replace(/\p{Surrogate}/gu, '\ufffd');
  if (Array.isArray(json)) return (json as readonly Json[]).map((item) => wellFormed(item));
  if (typeof json !== 'object' || json === null) return json;
  return Object.fromEntries(
    Object.entries(json).flatMap(([name, value]) => (value === undefined ? [] : [[wellFormed(name), wellFormed(value)]])),
  );
}
