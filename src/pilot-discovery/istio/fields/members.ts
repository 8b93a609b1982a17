import { meant } from '../../../shared/text/one-edit.ts';
import { parseDuration } from '../../../shared/text/value.ts';
import { regexFlaw } from '../../../shared/text/regex-flaw.ts';
import type { StringMatch } from './values.ts';
import { ownMember } from '../../../shared/text/own-member.ts';
import { isObject } from '../../../shared/text/is-object.ts';

/** The place of a value in a resource, and how its flaws are reported. */
export interface Place {
  /** The place around it; undefined for a whole resource. */
  readonly parent: Place | undefined;
  /** The step from there: `route`, `[0]`. */
  readonly step: string;
  /**
   * The severity of an unknown field. It is an error if access may depend on the field; it is not
   * reported in settings for other programs.
   */
  readonly unknown: 'error' | 'warning' | 'nothing';
  /** How a wrong setting that restricts access is treated: see closable.ts. */
  readonly ifWrong: 'refuse' | 'close';
  readonly tell: (path: string, reason: string, severity: 'error' | 'warning') => void;
}

/** Converts a value, and reports its flaws. `undefined` means that the value is not given. */
export type ReadMember<T> = (value: unknown, place: Place) => T;

/** Reports that a value is wrong, and what would be right. */
export function wrong(place: Place, reason: string): void {
  place.tell(pathOf(place), reason, 'error');
}

/** Reports that a value has no effect, or an unexpected one. The resource is used. */
export function warn(place: Place, reason: string): void {
  place.tell(pathOf(place), reason, 'warning');
}

export const below = (parent: Place, step: string): Place => ({
  parent,
  step,
  unknown: step === 'tls' ? 'error' : parent.unknown,
  ifWrong: parent.ifWrong,
  tell: parent.tell,
});

/** Reports no unknown members, at this place and below. */
export const lenient = (place: Place): Place => ({ ...place, unknown: 'nothing' });

/** Returns a path such as `spec.http[0].route`. Paths are only built for flaws, which are rare. */
function pathOf({ parent, step }: Place): string {
  const before = parent === undefined ? '' : pathOf(parent);
  return before === '' || step.startsWith('[') ? `${before}${step}` : `${before}.${step}`;
}

const snakes = new Map<string, string>();

/** Returns `target_port` for `targetPort`. Each name is converted once. */
function snake(name: string): string {
  const cached = snakes.get(name);
  if (cached !== undefined) return cached;
  const converted = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  snakes.set(name, converted);
  return converted;
}

const camel = (name: string) =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** Returns a value as messages show it. */
function shown(value: unknown): string {
  const text = typeof value === 'string' ? `'${value}'` : JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}

/** Reads one member of an object. */
export type Get = <T>(name: string, read: ReadMember<T>) => T;

/**
 * Reads an object by its members, which may be spelled as in protobuf's JSON (`targetPort`) or as
 * protobuf's fields (`target_port`). A member that `make` did not read is a flaw with the severity
 * `place.unknown`. A member in `later` is known to Istio but has no effect yet, which is a warning.
 */
export function members<T>(
  value: unknown,
  place: Place,
  later: readonly string[],
  make: (get: Get, has: (name: string) => boolean) => T,
): T {
  if (!isObject(value) && value !== undefined && value !== null)
    wrong(place, `${shown(value)} is not an object`);
  const given = isObject(value) ? value : {};
  const nameIn = (name: string) =>
    !Object.hasOwn(given, name) && Object.hasOwn(given, snake(name)) ? snake(name) : name;
  const fieldNames = new Set<string>();
  const has = (name: string) =>
    ownMember(given, nameIn(name)) !== undefined && ownMember(given, nameIn(name)) !== null;
  const result = make((name, read) => {
    fieldNames.add(name);
    const member = ownMember(given, nameIn(name));
    return read(member === null ? undefined : member, below(place, nameIn(name)));
  }, has);
  for (const name of later) {
    fieldNames.add(name);
    if (has(name))
      place.tell(
        pathOf(below(place, nameIn(name))),
        `${name} is not served yet, and has no effect`,
        'warning',
      );
  }
  for (const name of Object.keys(given)) {
    const other = name.includes('_') ? camel(name) : name;
    if (other !== name && fieldNames.has(other) && Object.hasOwn(given, other))
      wrong(
        below(place, name),
        `${other} gives it too, in another spelling: leave one of them out`,
      );
  }
  const { unknown } = place;
  if (unknown === 'nothing') return result;
  for (const name of Object.keys(given).filter(
    (key) => !fieldNames.has(key) && !fieldNames.has(camel(key)),
  )) {
    const near = meant(name, [...fieldNames]);
    place.tell(
      pathOf(below(place, name)),
      `there is no such field${near === undefined ? '' : `: did you mean ${near}?`}`,
      unknown,
    );
  }
  return result;
}

/** Reads a member that has no effect here. */
export const ignored: ReadMember<undefined> = () => undefined;

export const text: ReadMember<string> = (value, place) => {
  if (value === undefined) return '';
  if (typeof value === 'string') return value;
  wrong(place, `${shown(value)} is not a text`);
  return '';
};

/** Reports a block that has no member other than `besides`: it has no effect. */
export function refuseIfEmpty(value: unknown, place: Place, hint: string, besides?: string): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
  if (Object.keys(value).every((name) => name === besides))
    wrong(place, `it says nothing: give ${hint}`);
}

/** Reads a text that must be given. */
export const needed: ReadMember<string> = (value, place) => {
  const read = text(value, place);
  if (value === undefined || value === '') wrong(place, 'it is missing');
  return read;
};

export const boolean: ReadMember<boolean | undefined> = (value, place) => {
  if (value === undefined || typeof value === 'boolean') return value;
  wrong(place, `${shown(value)} is not true or false`);
  return undefined;
};

/** Reads a whole number within limits; undefined if it is not given. In JSON it may be a text. */
export function whole(least: number, most: number): ReadMember<number | undefined> {
  return (value, place) => {
    if (value === undefined) return undefined;
    const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
    if (typeof number === 'number' && Number.isInteger(number) && number >= least && number <= most)
      return number;
    wrong(place, `${shown(value)} is not a whole number from ${least} to ${most}`);
    return undefined;
  };
}

export const port: ReadMember<number | undefined> = whole(1, 65_535);
/** Reads a number that fits into 32 bits. */
export const count: ReadMember<number | undefined> = whole(0, 2 ** 31 - 1);

export const percent: ReadMember<number | undefined> = (value, place) => {
  if (value === undefined) return undefined;
  if (typeof value === 'number' && value >= 0 && value <= 100) return value;
  wrong(place, `${shown(value)} is not a percentage from 0 to 100`);
  return undefined;
};

/** Envoy has the seconds of some durations in 32 bits. In ms. */
const longest = 2 ** 31 * 1_000 - 1;

function durationFrom(isRight: (ms: number) => boolean): ReadMember<number | undefined> {
  return (value, place) => {
    if (value === undefined) return undefined;
    const ms = typeof value === 'string' ? parseDuration(value) : undefined;
    if (ms !== undefined && isRight(ms) && ms <= longest) return ms;
    if (ms !== undefined && ms > longest)
      wrong(place, `${shown(value)} is longer than Envoy counts: at most 2147483647s`);
    else
      wrong(place, `${shown(value)} is not a duration of 1ms or more (such as '500ms' or '1.5s')`);
    return undefined;
  };
}

/** Reads a duration in ms; undefined if it is not given. Except for 0, Envoy's least is 1 ms. */
export const duration: ReadMember<number | undefined> = durationFrom((ms) => ms === 0 || ms >= 1);
/** Reads a duration that Envoy NACKs if it is 0. */
export const durationAbove0: ReadMember<number | undefined> = durationFrom((ms) => ms >= 1);

/**
 * Reads one of several words. Protobuf's numbers, which JSON allows too, are not read: nobody uses
 * them.
 */
export function oneOf<T>(words: Readonly<Record<string, T>>, otherwise: T): ReadMember<T> {
  return (value, place) => {
    if (value === undefined) return otherwise;
    const choice =
      typeof value === 'string' && Object.hasOwn(words, value) ? words[value] : undefined;
    if (choice !== undefined) return choice;
    wrong(place, `${shown(value)} is not one of ${Object.keys(words).join(', ')}`);
    return otherwise;
  };
}

/** @param most the limit of Kubernetes for Istio's resources, if it has one */
export function list<T>(read: ReadMember<T>, most = Infinity): ReadMember<readonly T[]> {
  return (value, place) => {
    if (value === undefined) return [];
    if (Array.isArray(value) && value.length > most)
      wrong(place, `it has ${value.length} entries, and the limit is ${most}`);
    if (Array.isArray(value))
      return value
        .slice(0, most)
        .map((entry: unknown, index) => read(entry ?? undefined, below(place, `[${index}]`)));
    wrong(place, `${shown(value)} is not a list`);
    return [];
  };
}

/** Reads an entry of a list, which may not be null. */
export function notNull<T>(read: ReadMember<T>): ReadMember<T> {
  return (value, place) => {
    if (value === undefined) wrong(place, 'it is null: leave it out, or say what it is');
    return read(value, place);
  };
}

/** Reads an object whose names the user chooses. */
export function named<T>(read: ReadMember<T>): ReadMember<Readonly<Record<string, T>>> {
  return (value, place) => {
    if (value === undefined) return {};
    if (isObject(value))
      return Object.fromEntries(
        Object.entries(value).map(([name, member]: [string, unknown]) => [
          name,
          read(member ?? undefined, below(place, name)),
        ]),
      );
    wrong(place, `${shown(value)} is not an object`);
    return {};
  };
}

/** Reads texts by names that the user chooses. */
export const texts: ReadMember<Readonly<Record<string, string>>> = named(text);

export function maybe<T>(read: ReadMember<T>): ReadMember<T | undefined> {
  return (value, place) => (value === undefined ? undefined : read(value, place));
}

/** Reads an expression of RE2, as Envoy compiles it. */
export const regex: ReadMember<string> = (value, place) => {
  const read = needed(value, place);
  const flaw = read === '' ? undefined : regexFlaw(read);
  if (flaw !== undefined)
    wrong(place, `${shown(read)} is not a regular expression of RE2: ${flaw}`);
  return read;
};

function matchWith(prefix: ReadMember<string>): ReadMember<StringMatch> {
  return (value, place) =>
    members(value, place, [], (get, has) => {
      const types = (['exact', 'prefix', 'regex'] as const).filter(has);
      const [type = 'exact'] = types;
      if (types.length !== 1) wrong(place, 'it needs exactly one of exact, prefix, regex');
      const given = {
        exact: get('exact', text),
        prefix: get('prefix', maybe(prefix)) ?? '',
        regex: get('regex', maybe(regex)) ?? '',
      };
      return { type, value: given[type] };
    });
}

/** Reads a match of a path. Its prefix may be empty, which matches any path. */
export const uriMatch: ReadMember<StringMatch> = matchWith(text);
export const stringMatch: ReadMember<StringMatch> = matchWith((value, place) => {
  const read = text(value, place);
  if (read === '')
    wrong(place, "an empty prefix matches nothing: leave the match out, or give the regex '.*'");
  return read;
});
