import type * as z from 'zod/mini';

type Fields = Readonly<Record<string, unknown>>;

export interface SplitContent {
  /** The fields that the schema has, under its names and without nulls. */
  readonly knownFields: Fields;
  /** The fields that the schema does not have, at the same places. */
  readonly further: Fields;
  /** The same fields again, each by its path. */
  readonly paths: readonly { readonly path: string; readonly value: unknown }[];
}

/**
 * Splits content by whether the schema has its names. The content follows proto JSON, with names in
 * camel or snake case. Pure.
 */
export function splitContent(shape: z.core.$ZodShape, content: Fields, above = ''): SplitContent {
  const parts = Object.entries(content).map(([key, value]): SplitContent => {
    const camelCase = key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    const name = Object.hasOwn(shape, key) ? key : camelCase;
    const field = Object.hasOwn(shape, name) ? shape[name] : undefined;
    const inner = field && shapeOf(field);
    if (field === undefined)
      return {
        knownFields: {},
        further: value === null ? {} : { [name]: value },
        paths: [{ path: `${above}${key}`, value }],
      };
    if (value === null) return { knownFields: {}, further: {}, paths: [] };
    if (inner === undefined || !isMap(value))
      return { knownFields: { [name]: value }, further: {}, paths: [] };
    const {
      knownFields: innerFields,
      further,
      paths,
    } = splitContent(inner, value, `${above}${name}.`);
    return {
      knownFields: { [name]: innerFields },
      further: Object.keys(further).length === 0 ? {} : { [name]: further },
      paths,
    };
  });
  return {
    knownFields: Object.fromEntries(
      parts.flatMap(({ knownFields: fields }) => Object.entries(fields)),
    ),
    further: Object.fromEntries(parts.flatMap(({ further }) => Object.entries(further))),
    paths: parts.flatMap(({ paths }) => paths),
  };
}

/** Returns the fields of a message, whatever wraps it; undefined if the schema is not a message. */
function shapeOf(schema: z.core.$ZodType): z.core.$ZodShape | undefined {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case 'object':
      return def.shape;
    case 'optional':
    case 'default':
      return shapeOf(def.innerType);
    case 'pipe':
      return shapeOf(def.in);
    default:
      return undefined;
  }
}

/** Whether a value is an object of JSON: neither a list nor another object of YAML's. Pure. */
export function isMap(content: unknown): content is Fields {
  return (
    typeof content === 'object' &&
    content !== null &&
    Object.getPrototypeOf(content) === Object.prototype
  );
}
