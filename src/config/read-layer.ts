import * as z from 'zod/mini';

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
}

/** What was understood of a layer. */
export interface Reading<T> {
  readonly layer: Layer;
  /** Whatever is right. A field that is wrong in itself or in a part of it is left out. */
  readonly fields: T;
  /** The names of the fields that are wrong. */
  readonly wrong: readonly string[];
  readonly problems: readonly Problem[];
  readonly warnings: readonly string[];
}

/**
 * Reads a layer, of which each field may be missing, by the rules of proto JSON: names in camel or
 * snake case, null for what is not said. A field that the schema does not have is a warning, a
 * value that it does not take a problem. Pure.
 */
export function readLayer<Schema extends z.ZodMiniObject>(schema: Schema, layer: Layer): Reading<Partial<z.output<Schema>>> {
  const warnings: string[] = [];
  const content = known(schema, layer.content ?? {}, '', (path) => {
    warnings.push(`${layer.place(path)} is not known here, and is ignored`);
  });
  // What is no map has no fields, and the schema says so.
  const said = isMap(content) ? Object.entries(content) : [['', content] as const];
  const fields: Record<string, unknown> = {};
  const wrong: string[] = [];
  const problems = said.flatMap(([field, value]) => {
    const result = z.safeParse(schema.shape[field] ?? schema, value);
    if (result.success) fields[field] = result.data;
    else wrong.push(field);
    return result.error?.issues.map(({ path, message }) => ({ place: layer.place(joined([field, ...path])), text: message })) ?? [];
  });
  return { layer, fields: fields as Partial<z.output<Schema>>, wrong, problems, warnings };
}

/**
 * The content with the schema's names, without nulls and without what the schema does not know,
 * which is told by its path.
 */
function known(schema: z.core.$ZodType, content: unknown, path: string, onUnknown: (path: string) => void): unknown {
  const shape = shapeOf(schema);
  if (shape === undefined || !isMap(content)) return content;
  const fields: [string, unknown][] = [];
  for (const [key, value] of Object.entries(content)) {
    const name = Object.hasOwn(shape, key) ? key : key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    const field = Object.hasOwn(shape, name) ? shape[name] : undefined;
    if (field === undefined) onUnknown(`${path}${key}`);
    else if (value !== null) fields.push([name, known(field, value, `${path}${name}.`, onUnknown)]);
  }
  return Object.fromEntries(fields);
}

/**
 * The fields of a message, whatever is wrapped around it; undefined for a schema of anything else.
 */
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

function joined(path: readonly PropertyKey[]): string {
  return path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .replace(/^\./, '');
}

function isMap(content: unknown): content is Readonly<Record<string, unknown>> {
  return typeof content === 'object' && content !== null && !Array.isArray(content);
}

/** One thing that is wrong: where, and what would be right. */
export interface Problem {
  readonly place: string;
  readonly text: string;
}
