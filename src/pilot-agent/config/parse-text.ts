import type * as Yaml from 'yaml';
import { valueFlaw } from '../../shared/text/levels.ts';
import { parseYaml, valueOfYaml } from '../../shared/text/parse-yaml.ts';
import type { LayerContent } from './text-layers.ts';
import { parseJson, TooDeep } from '../../shared/text/parse-json.ts';

/** The limits of one text. */
export interface TextLimits {
  readonly characters: number;
  /**
   * The limit of YAML tokens: the parser needs about 7 µs for each, and blocks the agent meanwhile.
   */
  readonly tokens: number;
  /** The limit of values in any text, because the code walks through them more than once. */
  readonly values: number;
  readonly levels: number;
}

const usual: TextLimits = { characters: 256 << 10, tokens: 10_000, values: 10_000, levels: 100 };

/**
 * Parses a text of YAML, which includes JSON; an empty text is null. A text beyond the limits is
 * refused, so that no text blocks the agent for more than 100 ms. A map with a repeated name is
 * refused too. The YAML parser is loaded only if the text is not JSON. Never rejects.
 */
export async function parseText(text: string, limits: TextLimits = usual): Promise<LayerContent> {
  if (text.length > limits.characters)
    return {
      ok: false,
      reason: `it has ${text.length} characters, and ${limits.characters} are read at most`,
    };
  return jsonContent(text, limits) ?? readYaml(text, limits);
}

/** In such a text, YAML has no other brackets than JSON: no comments, no texts in single quotes. */
const brackets = /^\s*[[{][^#']*$/;

function jsonContent(text: string, limits: TextLimits): LayerContent | undefined {
  try {
    const value = parseJson(text, undefined, limits.levels);
    const reason = valueFlaw(value, limits);
    return reason === undefined ? { ok: true, value } : { ok: false, reason };
  } catch (error) {
    return error instanceof TooDeep && brackets.test(text)
      ? { ok: false, reason: error.message }
      : undefined;
  }
}

async function readYaml(text: string, limits: TextLimits): Promise<LayerContent> {
  const yaml = await import('yaml');
  const { levels, tokens } = limits;
  // Repeated names are found below: the parser compares each name with each.
  const parsed = parseYaml(yaml, text, { merge: true, uniqueKeys: false }, { levels, tokens });
  if (!parsed.ok) return { ok: false, reason: parsed.reason };
  const { lines: lineCounter } = parsed;
  const [document, second] = parsed.documents;
  if (document === undefined) return { ok: true, value: null };
  if (second !== undefined)
    return {
      ok: false,
      reason: `${placeOf(second.range[0], lineCounter)}: it has more than one document`,
    };
  const [error] = document.errors;
  if (error !== undefined)
    return {
      ok: false,
      reason: `${placeOf(error.pos[0], lineCounter)}: ${withoutContent(error.message)}`,
    };
  const repeated = repeatedName(document, yaml);
  if (repeated !== undefined)
    return { ok: false, reason: `${placeOf(repeated, lineCounter)}: Map keys must be unique` };
  return valueOfYaml(document, document.contents, limits);
}

/** Returns the position of a name that its map already has. */
function repeatedName(
  document: Yaml.Document,
  { isScalar, visit }: typeof Yaml,
): number | undefined {
  let offset: number | undefined;
  visit(document, {
    Map: (_, { items }) => {
      const names = new Set<string>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        const name = String(key.value);
        if (names.has(name)) {
          offset = key.range?.[0] ?? 0;
          return visit.BREAK;
        }
        names.add(name);
      }
      return undefined;
    },
  });
  return offset;
}

function placeOf(offset: number, lineCounter: Yaml.LineCounter): string {
  const { line, col } = lineCounter.linePos(offset);
  return `line ${line}, column ${col}`;
}

/** Removes the content that some messages quote at their end, because it may be a secret. */
function withoutContent(message: string): string {
  return message.replace(/:? ["'].*$|(?<=\S): .*$| \\.*$/s, '');
}
