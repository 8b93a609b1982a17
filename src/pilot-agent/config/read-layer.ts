import * as z from 'zod/mini';
import { meant } from '../../shared/text/one-edit.ts';
import { jsonFlaw, withoutSecrets } from './passed-on.ts';
import { isOptionalMember, isSecuring } from './proxy-config.ts';
import { isMap, splitContent } from '../../shared/text/split-content.ts';
import { ownMember } from '../../shared/text/own-member.ts';
import type { Problem } from '../../shared/text/value.ts';

/** What one place of the configuration says. */
export interface Layer {
  /** In proto JSON; nothing where it is null or undefined. */
  readonly content: unknown;
  /** What the place is called as the source of a field. */
  readonly source: (field: string) => string;
  /**
   * What the place of a path in the content is called, `tracing.zipkin.address`; an empty path is
   * the content itself.
   */
  readonly place: (path: string) => string;
  /**
   * Whether a wrong value of a field is a warning, and is left out so that the layer below holds.
   * If only an optional member of it is wrong, that member is left out. A layer without this has no
   * such field.
   */
  readonly spares?: (field: string) => boolean;
}

/** What was understood of a layer. */
export interface LayerReading<T> {
  readonly layer: Layer;
  /** Whatever is right. A field that is wrong in itself or in a part of it is left out. */
  readonly fields: T;
  /** The names of the fields that are wrong. */
  readonly wrong: readonly string[];
  /** What the schema does not have, as JSON and without secrets, at the places where it was. */
  readonly further: Readonly<Record<string, unknown>>;
  readonly problems: readonly Problem[];
  readonly warnings: readonly string[];
}

/**
 * Reads a layer, of which each field may be missing, by the rules of proto JSON: names in camel or
 * snake case, null for what is not said. A field that the schema does not have is a warning, and is
 * kept apart; a value that it does not take is a problem, and so is one that JSON does not have, or
 * a field that is not known among those that secure a connection. Pure.
 */
export function readLayer<Schema extends z.ZodMiniObject>(
  schema: Schema,
  layer: Layer,
): LayerReading<Partial<z.output<Schema>>> {
  const content = layer.content ?? {};
  // What is no map has no fields, and the schema says so.
  const { known, further, paths } = isMap(content)
    ? splitContent(schema.shape, content)
    : { known: { '': content }, further: {}, paths: [] };
  const [unsafe, unknown] = [
    paths.filter(({ path }) => isSecuring(path)),
    paths.filter(({ path }) => !isSecuring(path)),
  ];
  const fields = new Map<string, unknown>();
  const wrong: string[] = [];
  const spared: string[] = [];
  const problems = Object.entries(known).flatMap(([field, value]): readonly Problem[] => {
    const part = ownMember(schema.shape, field) ?? schema;
    const result = z.safeParse(part, value);
    const issues = [
      ...unsafe
        .filter(({ path }) => path.startsWith(`${field}.`))
        .map(({ path }) => ({ path, text: notSecured })),
      ...(result.error?.issues.map(({ path, message }) => ({
        path: pathText([field, ...path]),
        text: message,
      })) ?? []),
    ];
    if (issues.length === 0) fields.set(field, result.data);
    const isSpared = layer.spares?.(field) === true;
    const rest = isSpared ? withoutMembers(value, field, issues) : undefined;
    const retried = rest === undefined ? undefined : z.safeParse(part, rest);
    if (retried?.success === true) fields.set(field, retried.data);
    else if (issues.length > 0) wrong.push(field);
    const told = few(
      issues.map(({ path, text }) => ({ path, place: layer.place(path), text })),
      (more) => ({
        path: field,
        place: layer.place(field),
        text: `${more} more of its values are wrong`,
      }),
    );
    if (!isSpared) return told.map(({ place, text }) => ({ place, text }));
    const out = (path: string) =>
      field === '' ? 'all of it' : retried?.success === true ? memberOf(path) : field;
    spared.push(
      ...told.map(({ path, place, text }) => `${place}: ${text}: ${out(path)} is left out`),
    );
    return [];
  });
  const flaws = paths.flatMap(({ path, value }) => {
    const text = jsonFlaw(value);
    return text === undefined ? [] : [{ place: layer.place(path), text }];
  });
  if (layer.spares !== undefined)
    spared.push(
      ...flaws.map(
        ({ place, text }) => `${place}: ${text}: fields that are not known here are left out`,
      ),
    );
  return {
    layer,
    fields: Object.fromEntries(fields) as Partial<z.output<Schema>>,
    wrong,
    further:
      flaws.length === 0 ? (withoutSecrets(further) as Readonly<Record<string, unknown>>) : {},
    problems: [...problems, ...(layer.spares === undefined ? flaws : [])],
    warnings: [
      ...spared,
      ...few(
        unknown.map(
          ({ path }) =>
            `${layer.place(path)} is not known here${suggested(path, schema.shape)}: the control plane gets it as it is`,
        ),
        (more) =>
          `${layer.place('')}: ${more} more fields are not known here: the control plane gets them as they are`,
      ),
    ],
  };
}

const notSecured = 'is not known here, and may be what secures the connection';

/** `field.member` of a path below it. */
function memberOf(path: string): string {
  return path.split('.').slice(0, 2).join('.');
}

/** A field less its members that are wrong, if it can do without all of them. */
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

/** For a name that is nearly one of the schema's own. */
function suggested(name: string, shape: object): string {
  const right = meant(name, Object.keys(shape));
  return right === undefined ? '' : ` (did you mean ${right}?)`;
}

/** The first of them, and how many there are besides. Pure. */
export function few<T>(all: readonly T[], others: (count: number) => T): readonly T[] {
  return all.length > mostTold ? [...all.slice(0, mostTold), others(all.length - mostTold)] : all;
}

const mostTold = 20;

/** A path as people write it: `tracing.customTags[0]`. Pure. */
export function pathText(path: readonly PropertyKey[]): string {
  return path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .replace(/^\./, '');
}
