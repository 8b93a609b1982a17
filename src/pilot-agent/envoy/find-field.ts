import type { UserText } from './layers.ts';
import type { RefusalWords } from './refusal-words.ts';
import { ownMember } from '../../shared/text/own-member.ts';
import { isObject } from '../../shared/text/is-object.ts';

/** A value of a layer, and its place in the whole configuration. */
export interface Spot {
  readonly layer: UserText;
  readonly value: unknown;
  /** The path in the names of the layer. */
  readonly path: string;
}

/** The spot nearest to a field, and the number of steps from there to the field. */
export interface FieldMatch {
  readonly spot: Spot;
  readonly left: number;
}

type Step = string | number;

/**
 * Finds the field that Envoy refuses. Undefined if nothing points to it, or if several places fit
 * equally well. Pure.
 */
export function findField(
  { path, root, values = [], problem }: RefusalWords,
  layers: readonly UserText[],
): FieldMatch | undefined {
  const whole = layers.map((layer): Spot => ({ layer, value: placed(layer), path: '' }));
  if (path === '')
    return values
      .map((value) => findValue(value, whole, problem))
      .find((field) => field !== undefined);
  const steps = stepsOf(path);
  if (root === undefined) return follow(whole, steps);
  const matches = whole
    .flatMap(spots)
    .filter(({ value }) => isObject(value) && String(value['@type']).split('.').at(-1) === root)
    .flatMap((spot) => follow([spot], steps) ?? []);
  if (matches.length === 1) return matches[0];
  const isAbsent = problem.includes('missing');
  const guilty = matches.filter(({ spot, left }) =>
    isAbsent ? left > 0 || isEmpty(spot.value) : left === 0,
  );
  return guilty.length === 1 ? guilty[0] : undefined;
}

/** Returns the names of all items in lists of this name. Pure. */
export function namesOf(list: string, layers: readonly UserText[]): readonly string[] {
  return layers
    .flatMap((layer) => spots({ layer, value: placed(layer), path: '' }))
    .filter(({ path }) => path === list || path.endsWith(`.${list}`))
    .flatMap(members)
    .flatMap(({ value }) =>
      isObject(value) && typeof value['name'] === 'string' ? [value['name']] : [],
    );
}

/**
 * Splits a path into names and indexes of lists. Leaves out `<any>` and `<struct>`, which belong to
 * protobuf only.
 */
export function stepsOf(path: string): readonly Step[] {
  return [...path.matchAll(/<\w+>|\[(\d+)\]|([^.[\]<>]+)/g)].flatMap(([, index, name]) =>
    index === undefined ? (name ?? []) : Number(index),
  );
}

/** Follows the steps through all layers at once. */
function follow(from: readonly Spot[], [step, ...rest]: readonly Step[]): FieldMatch | undefined {
  const spot = from.at(-1); // the top layer wins
  if (spot === undefined) return undefined;
  if (step === undefined) return { spot, left: 0 };
  const left = rest.length + 1;
  if (typeof step === 'string')
    return (
      follow(
        from.flatMap((parent) => member(parent, step)),
        rest,
      ) ?? { spot, left }
    );
  const items = from.filter(({ value }) => Array.isArray(value)).flatMap(members);
  if (items.length > 0) return follow(items.slice(step, step + 1), rest) ?? { spot, left };
  // The text has no list here. It has one message in its place, or a map, whose order is unknown.
  const matches = [...from, ...from.flatMap(members)].flatMap(
    (start) => follow([start], rest) ?? [],
  );
  const [best, next] = matches.sort((first, second) => first.left - second.left);
  return best !== undefined && (next === undefined || best.left < next.left)
    ? best
    : { spot, left };
}

/** Returns the path of a member. Pure. */
export function joined(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

function member({ layer, value, path }: Spot, name: string): readonly Spot[] {
  if (!isObject(value)) return [];
  const field = Object.keys(value).find((key) => key === name || snake(key) === name);
  return field === undefined
    ? []
    : [{ layer, value: ownMember(value, field), path: joined(path, field) }];
}

function members({ layer, value, path }: Spot): readonly Spot[] {
  if (Array.isArray(value))
    return value.map((item: unknown, index): Spot => ({
      layer,
      value: item,
      path: `${path}[${index}]`,
    }));
  if (!isObject(value)) return [];
  return Object.entries(value).map(([name, item]): Spot => ({
    layer,
    value: item,
    path: joined(path, name),
  }));
}

/** Returns a value and everything inside it. */
function spots(spot: Spot): readonly Spot[] {
  return [spot, ...members(spot).flatMap(spots)];
}

/**
 * Returns the first value that equals `text`; if Envoy refuses a duplicate, the last one. If no
 * value equals `text`, returns the only value that contains it.
 */
function findValue(text: string, whole: readonly Spot[], problem: string): FieldMatch | undefined {
  const texts = whole.flatMap(spots).filter(({ value }) => typeof value === 'string');
  const same = texts.filter(({ value }) => value === text);
  const parts =
    text.length > 2 ? texts.filter(({ value }) => (value as string).includes(text)) : [];
  const spot =
    same.length > 0
      ? same.at(problem.includes('duplicate') ? -1 : 0)
      : parts.length === 1
        ? parts[0]
        : undefined;
  return spot && { spot, left: 0 };
}

/** Returns the content of a layer as part of the configuration that it is laid over. */
function placed({ at: fieldPath, value }: UserText): unknown {
  return fieldPath === ''
    ? value
    : fieldPath.split('.').reduceRight((inner, field): unknown => ({ [field]: inner }), value);
}

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function isEmpty(value: unknown): boolean {
  return value === '' || value === null || (Array.isArray(value) && value.length === 0);
}
