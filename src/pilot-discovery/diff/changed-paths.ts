import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import { isObject } from '../../shared/text/is-object.ts';

/** A difference between two messages. Values are JSON. */
export type PathChange =
  | { readonly kind: 'added'; readonly path: string; readonly after: string }
  | { readonly kind: 'removed'; readonly path: string; readonly before: string }
  | {
      readonly kind: 'changed';
      readonly path: string;
      readonly before: string;
      readonly after: string;
    }
  /** The same elements in another order. */
  | { readonly kind: 'reordered'; readonly path: string };

/**
 * Yields the differences between two messages as paths of JSON, such as
 * `virtual_hosts["a.mesh:80"].routes[0].route.timeout`. Elements of a list are compared by their
 * names if each has its own name. Otherwise equal elements at both ends are skipped, and the others
 * are compared by their places. Pure.
 */
export function* changedPaths(
  before: JsonValue,
  after: JsonValue,
  path = '',
): Generator<PathChange, undefined> {
  if (Array.isArray(before) && Array.isArray(after)) yield* changedElements(before, after, path);
  else if (isObject(before) && isObject(after)) {
    for (const name of new Set([...Object.keys(before), ...Object.keys(after)]))
      yield* changedMember(memberOf(before, name), memberOf(after, name), memberPath(path, name));
  } else if (before !== after)
    yield { kind: 'changed', path, before: textOf(before), after: textOf(after) };
}

function* changedMember(
  before: JsonValue | undefined,
  after: JsonValue | undefined,
  path: string,
): Generator<PathChange, undefined> {
  if (before === undefined && after === undefined) return;
  if (before === undefined) yield { kind: 'added', path, after: textOf(after ?? null) };
  else if (after === undefined) yield { kind: 'removed', path, before: textOf(before) };
  else yield* changedPaths(before, after, path);
}

type Elements = readonly JsonValue[];

function* changedElements(
  before: Elements,
  after: Elements,
  path: string,
): Generator<PathChange, undefined> {
  const [old, now] = [byNames(before), byNames(after)];
  if (old !== undefined && now !== undefined) {
    for (const name of new Set([...old.keys(), ...now.keys()]))
      yield* changedMember(old.get(name), now.get(name), `${path}[${JSON.stringify(name)}]`);
    const [left, right] = [
      [...old.keys()].filter((name) => now.has(name)),
      [...now.keys()].filter((name) => old.has(name)),
    ];
    if (left.some((name, index) => name !== right[index])) yield { kind: 'reordered', path };
    return;
  }
  const [left, right] = [before.map(textOf), after.map(textOf)];
  const shorter = Math.min(left.length, right.length);
  let start = 0;
  while (start < shorter && left[start] === right[start]) start += 1;
  let equalEnd = 0;
  while (equalEnd < shorter - start && left.at(-1 - equalEnd) === right.at(-1 - equalEnd))
    equalEnd += 1;
  const last = Math.max(left.length, right.length) - equalEnd;
  for (let index = start; index < last; index += 1)
    yield* changedMember(
      index < left.length - equalEnd ? before[index] : undefined,
      index < right.length - equalEnd ? after[index] : undefined,
      `${path}[${index}]`,
    );
}

/** Returns the elements by their names; undefined if one has no name, or two have the same. */
function byNames(elements: Elements): ReadonlyMap<string, JsonValue> | undefined {
  const named = new Map<string, JsonValue>();
  for (const element of elements) {
    const name = isObject(element) ? memberOf(element, 'name') : undefined;
    if (typeof name !== 'string' || named.has(name)) return undefined;
    named.set(name, element);
  }
  return named;
}

const memberOf = (object: JsonObject, name: string): JsonValue | undefined =>
  Object.hasOwn(object, name) ? object[name] : undefined;

/** `a.b`; a name that is not an identifier is written as `a["b-c"]`. */
function memberPath(path: string, name: string): string {
  if (!/^[A-Za-z_]\w*$/.test(name)) return `${path}[${JSON.stringify(name)}]`;
  return path === '' ? name : `${path}.${name}`;
}

const textOf = (value: JsonValue): string => JSON.stringify(value);
