import * as z from 'zod/mini';
import { meant } from '../../shared/text/one-edit.ts';
import { jsonFlaw, withoutSecrets } from './passed-on.ts';
import { isOptionalMember, isSecuring } from './proxy-config.ts';
import { isMap, splitContent } from '../../shared/text/split-content.ts';
import { ownMember } from '../../shared/text/own-member.ts';
import type { Problem } from '../../shared/text/value.ts';

/** The content of one place of the configuration. */
export interface Layer {
  /** In proto JSON; null or undefined counts as empty. */
  readonly content: unknown;
  /** Returns the name of the place as the source of a field. */
  readonly source: (field: string) => string;
  /**
   * Returns the name of the place of a path in the content, such as `tracing.zipkin.address`; an
   * empty path is the content itself.
   */
  readonly place: (path: string) => string;
  /**
   * Says whether a wrong value of a field is only a warning. The field is then left out, and the
   * layer below applies. If only an optional member of it is wrong, just that member is left out. A
   * layer without this function has no such field.
   */
  readonly spares?: (field: string) => boolean;
}

/** The result of reading a layer. */
export interface LayerReading<T> {
  readonly layer: Layer;
  /** The valid fields, and the valid parts of fields that `spares` allows to be wrong. */
  readonly fields: T;
  /** The names of the fields that are wrong. */
  readonly wrong: readonly string[];
  /** Fields that the schema does not have, as JSON without secrets, at their original paths. */
  readonly further: Readonly<Record<string, unknown>>;
  readonly problems: readonly Problem[];
  readonly warnings: readonly string[];
}

/**
 * Reads a layer, in which each field may be missing, by the rules of proto JSON: names in camel or
 * snake case, null for missing. A field that the schema does not have is a warning, and is kept
 * separately. A problem is a value that the schema refuses, a value that JSON does not have, or an
 * unknown field among those that secure a connection. Pure.
 */
export function readLayer<Schema extends z.ZodMiniObject>(
  schema: Schema,
  layer: Layer,
): LayerReading<Partial<z.output<Schema>>> {
  const content = layer.content ?? {};
  // A content that is not a map has no fields, and the schema reports it.
  const { knownFields, further, paths } = isMap(content)
    ? splitContent(schema.shape, content)
    : { knownFields: { '': content }, further: {}, paths: [] };
  const unsafe = paths.flatMap(({ path }) => (isSecuring(path) ? [path] : []));
  const unknown = paths.flatMap(({ path }) => (isSecuring(path) ? [] : [path]));
  const readings = Object.entries(knownFields).map(([field, value]) =>
    readField({ field, value, schema: ownMember(schema.shape, field) ?? schema }, unsafe, layer),
  );
  const flaws = paths.flatMap(({ path, value }) => {
    const text = jsonFlaw(value);
    return text === undefined ? [] : [{ place: layer.place(path), text }];
  });
  const areSpared = layer.spares !== undefined;
  return {
    layer,
    fields: Object.fromEntries(readings.flatMap(({ fields }) => fields)) as Partial<
      z.output<Schema>
    >,
    wrong: readings.flatMap(({ wrong }) => wrong),
    further:
      flaws.length === 0 ? (withoutSecrets(further) as Readonly<Record<string, unknown>>) : {},
    problems: [...readings.flatMap(({ problems }) => problems), ...(areSpared ? [] : flaws)],
    warnings: [
      ...readings.flatMap(({ warnings }) => warnings),
      ...(areSpared ? flaws : []).map(
        ({ place, text }) => `${place}: ${text}: fields that are not known here are left out`,
      ),
      ...unknownWarnings(unknown, schema, layer),
    ],
  };
}

/** The result of reading one field. `fields` has its value, or the valid part of it, or nothing. */
interface FieldReading extends Pick<LayerReading<unknown>, 'wrong' | 'problems' | 'warnings'> {
  readonly fields: readonly (readonly [field: string, value: unknown])[];
}

interface GivenField {
  readonly field: string;
  readonly value: unknown;
  readonly schema: z.core.$ZodType;
}

/** Reads a field; `unsafe` are the unknown paths of the layer that may secure a connection. */
function readField(
  { field, value, schema }: GivenField,
  unsafe: readonly string[],
  layer: Layer,
): FieldReading {
  const result = z.safeParse(schema, value);
  const issues = [
    ...unsafe
      .filter((path) => path.startsWith(`${field}.`))
      .map((path) => ({ path, text: notSecured })),
    ...(result.error?.issues.map(({ path, message }) => ({
      path: pathText([field, ...path]),
      text: message,
    })) ?? []),
  ];
  if (issues.length === 0)
    return { fields: [[field, result.data]], wrong: [], problems: [], warnings: [] };
  const listed = few(
    issues.map(({ path, text }) => ({ path, place: layer.place(path), text })),
    (more) => ({
      path: field,
      place: layer.place(field),
      text: `${more} more of its values are wrong`,
    }),
  );
  if (layer.spares?.(field) !== true) {
    const problems = listed.map(({ place, text }) => ({ place, text }));
    return { fields: [], wrong: [field], problems, warnings: [] };
  }
  const rest = withoutMembers(value, field, issues);
  const retried = rest === undefined ? undefined : z.safeParse(schema, rest);
  const isPart = retried?.success === true;
  const out = (path: string) => (field === '' ? 'all of it' : isPart ? memberOf(path) : field);
  return {
    fields: isPart ? [[field, retried.data]] : [],
    wrong: isPart ? [] : [field],
    problems: [],
    warnings: listed.map(({ path, place, text }) => `${place}: ${text}: ${out(path)} is left out`),
  };
}

function unknownWarnings(
  paths: readonly string[],
  { shape }: z.ZodMiniObject,
  layer: Layer,
): readonly string[] {
  return few(
    paths.map(
      (path) =>
        `${layer.place(path)} is not known here${suggested(path, shape)}: the control plane gets it as it is`,
    ),
    (more) =>
      `${layer.place('')}: ${more} more fields are not known here: the control plane gets them as they are`,
  );
}

const notSecured = 'is not known here, and may be what secures the connection';

/** Returns `field.member` for a path below it. */
function memberOf(path: string): string {
  return path.split('.').slice(0, 2).join('.');
}

/** Returns a field without its wrong members, if all of these are optional. */
function withoutMembers(
  value: unknown,
  field: string,
  issues: readonly { readonly path: string }[],
): unknown {
  const members = new Set(issues.map(({ path }) => memberOf(path)));
  if (!isMap(value) || members.size === 0 || ![...members].every(isOptionalMember))
    return undefined;
  return Object.fromEntries(
    Object.entries(value).filter(([name]) => !members.has(`${field}.${name}`)),
  );
}

/** Returns a suggestion for a name that is nearly one of the schema. */
function suggested(name: string, shape: object): string {
  const right = meant(name, Object.keys(shape));
  return right === undefined ? '' : ` (did you mean ${right}?)`;
}

/** Returns the first 20 entries, and one that says how many more there are. Pure. */
export function few<T>(entries: readonly T[], others: (count: number) => T): readonly T[] {
  return entries.length > mostNamed
    ? [...entries.slice(0, mostNamed), others(entries.length - mostNamed)]
    : entries;
}

const mostNamed = 20;

/** Returns a path in its usual notation: `tracing.customTags[0]`. Pure. */
export function pathText(path: readonly PropertyKey[]): string {
  return path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .replace(/^\./, '');
}
