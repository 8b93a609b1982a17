import type { Problem } from '../../shared/text/value.ts';

/** A JSON value. Members that are undefined are left out. */
export type Json =
  | string
  | number
  | boolean
  | null
  | undefined
  | readonly Json[]
  | { readonly [name: string]: Json };

/**
 * Collects what is wrong while the parts of a bootstrap are made. With a problem there is no
 * bootstrap; a warning means that the bootstrap lacks one part.
 */
export interface Findings {
  readonly problems: Problem[];
  readonly warnings: string[];
}

/**
 * Makes a part that Envoy can serve without. Turns a problem into a warning, which ends with its
 * consequence, and then returns undefined.
 */
export function sparing<T>(
  { warnings }: Findings,
  consequence: string,
  make: (partFindings: Findings) => T,
): T | undefined {
  const partFindings: Findings = { problems: [], warnings: [] };
  const part = make(partFindings);
  warnings.push(
    ...partFindings.warnings,
    ...partFindings.problems.map(({ place, text }) => `${place}: ${text}: ${consequence}`),
  );
  return partFindings.problems.length > 0 ? undefined : part;
}

/**
 * Returns the same JSON with the members of each object sorted by name, so that another order is
 * not a change. Pure.
 */
export function sorted<T extends Json>(json: T): T;
export function sorted(json: Json): Json {
  if (Array.isArray(json)) return (json as readonly Json[]).map((item) => sorted(item));
  if (typeof json !== 'object' || json === null) return json;
  const members = Object.entries(json).sort(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(members.map(([name, value]) => [name, sorted(value)]));
}

/**
 * Returns the same JSON without undefined members, and without halves of surrogate pairs, which
 * Envoy's JSON parser refuses. Pure.
 */
export function wellFormed<T extends Json>(json: T): T;
export function wellFormed(json: Json): Json {
  if (typeof json === 'string') return json.replace(/\p{Surrogate}/gu, '\ufffd');
  if (Array.isArray(json)) return (json as readonly Json[]).map((item) => wellFormed(item));
  if (typeof json !== 'object' || json === null) return json;
  return Object.fromEntries(
    Object.entries(json).flatMap(([name, value]) =>
      value === undefined ? [] : [[wellFormed(name), wellFormed(value)]],
    ),
  );
}

/**
 * Writes a duration in the JSON of protobuf: seconds, with 3 or 9 digits of a fraction if there is
 * one. Takes ms. Pure.
 */
export function protoDuration(ms: number): string {
  const digits = ms % 1000 === 0 ? 0 : Number.isInteger(ms) ? 3 : 9;
  return `${(ms / 1000).toFixed(digits)}s`;
}

/** Returns a message of Envoy's API as an `Any`; `type` is its full name below `envoy.`. Pure. */
export function typedConfig(
  type: string,
  fields: Readonly<Record<string, Json>> = {},
): Readonly<Record<string, Json>> {
  return { '@type': `type.googleapis.com/envoy.${type}`, ...fields };
}
