import * as z from 'zod/mini';
import { meant } from './one-edit.ts';
import { jsonFlaw, withoutSecrets } from './passed-on.ts';
import { isMap, splitContent } from './split-content.ts';
import { ownMember } from '../texts/own-member.ts';
import type { Problem } from './value.ts';

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
   * Whether a wrong value of a field is a warning, and is left out so that the layer below holds. A
   * layer without this has no such field.
   */
  readonly spares?: (field: string) => boolean;
}

/** What was understood of a layer. */
export interface Reading<T> {
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
 * kept apart; a value that it does not take is a problem, and so is one that JSON does not have.
 * Pure.
 */
export function readLayer<Schema extends z.ZodMiniObject>(schema: Schema, layer: Layer): Reading<Partial<z.output<Schema>>> {
  const content = layer.content ?? {};
  // What is no map has no fields, and the schema says so.
  const { known, further, paths } = isMap(content)
    ? splitContent(schema.shape, content)
    : { known: { '': content }, further: {}, paths: [] };
  const fields = new Map<string, unknown>();
  const wrong: string[] = [];
  const spared: string[] = [];
  const problems = Object.entries(known).flatMap(([field, value]): readonly Problem[] => {
    const result = z.safeParse(ownMember(schema.shape, field) ?? schema, value);
    if (result.success) fields.set(field, result.data);
    else wrong.push(field);
    const issues =
      result.error?.issues.map(({ path, message }) => ({ place: layer.place(pathText([field, ...path])), text: message })) ?? [];
    const told = few(issues, (more) => ({ place: layer.place(field), text: `${more} more of its values are wrong` }));
    if (layer.spares?.(field) !== true) return told;
    spared.push(...told.map(({ place, text }) => `${place}: ${text}: ${field === '' ? 'all of it' : field} is left out`));
    return [];
  });
  const flaws = paths.flatMap(({ path, value }) => {
    const text = jsonFlaw(value);
    return text === undefined ? [] : [{ place: layer.place(path), text }];
  });
  if (layer.spares !== undefined)
    spared.push(...flaws.map(({ place, text }) => `${place}: ${text}: fields that are not known here are left out`));
  return {
    layer,
    fields: Object.fromEntries(fields) as Partial<z.output<Schema>>,
    wrong,
    further: flaws.length === 0 ? (withoutSecrets(further) as Readonly<Record<string, unknown>>) : {},
    problems: [...problems, ...(layer.spares === undefined ? flaws : [])],
    warnings: [
      ...spared,
      ...few(
        paths.map(
          ({ path }) => `${layer.place(path)} is not known here${suggested(path, schema.shape)}: the control plane gets it as it is`,
        ),
        (more) => `${layer.place('')}: ${more} more fields are not known here: the control plane gets them as they are`,
      ),
    ],
  };
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
