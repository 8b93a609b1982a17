import type { ScalarTag } from 'yaml';
import { parseYaml, valueOfYaml } from '../shared/text/parse-yaml.ts';

/** The value of a text, or the reason why it has none. No reason contains any part of the text. */
export type Parsed =
  | { readonly ok: true; readonly value: unknown }
  | {
      readonly ok: false;
      readonly reason: string;
      readonly position?: { readonly line: number; readonly column: number };
    };

const int32 = 2 ** 31;

/**
 * Plain scalars as yaml-cpp reads them: booleans of YAML 1.1, and octal numbers with a leading 0.
 */
const asEnvoy: ScalarTag[] = [
  {
    tag: 'tag:yaml.org,2002:null',
    default: true,
    test: /^(?:~|null|Null|NULL)?$/,
    resolve: () => null,
  },
  {
    tag: 'tag:yaml.org,2002:bool',
    default: true,
    test: /^(?:y|Y|yes|Yes|YES|true|True|TRUE|on|On|ON)$/,
    resolve: () => true,
  },
  {
    tag: 'tag:yaml.org,2002:bool',
    default: true,
    test: /^(?:n|N|no|No|NO|false|False|FALSE|off|Off|OFF)$/,
    resolve: () => false,
  },
  {
    tag: 'tag:yaml.org,2002:int',
    default: true,
    test: /^[-+]?(?:0|[1-9]\d*|0[0-7]+|0[xX][\da-fA-F]+)$/,
    resolve: integer,
  },
];

/**
 * Parses an integer. Envoy reads every number that is not an integer of 32 bits as a text, such as
 * `0.5`.
 */
function integer(text: string): number | string {
  const [, sign = '', digits = ''] = /^([-+]?)(.*)$/.exec(text) ?? [];
  const value = BigInt(/^0\d/.test(digits) ? `0o${digits}` : digits) * (sign === '-' ? -1n : 1n);
  if (value < -(2n ** 63n) || value >= 2n ** 63n) return text;
  return value >= -int32 && value < int32 ? Number(value) : String(value);
}

/**
 * Parses YAML as Envoy 1.36 does (`--config-yaml`, and files `.yaml`): of two equal keys the last
 * one counts, there are no merge keys, and only the first document is read.
 */
export async function parseEnvoyYaml(text: string): Promise<Parsed> {
  const yaml = await import('yaml');
  const { isScalar, visit } = yaml;
  const parsed = parseYaml(yaml, text, {
    schema: 'failsafe',
    customTags: asEnvoy,
    uniqueKeys: false,
    merge: false,
  });
  if (!parsed.ok)
    return {
      ok: false,
      reason: parsed.reason,
      position: { line: parsed.line, column: parsed.column },
    };
  const { lines } = parsed;
  const [document] = parsed.documents;
  if (document === undefined) return { ok: true, value: null };
  const [error] = document.errors;
  if (error !== undefined) {
    const { line, col } = lines.linePos(error.pos[0]);
    return { ok: false, reason: `it is not YAML (${error.code})`, position: { line, column: col } };
  }
  visit(document, {
    Pair(_, { key }) {
      if (isScalar(key) && key.type === 'PLAIN') key.value = key.source; // a name
    },
  });
  const read = valueOfYaml(document);
  return read.ok ? read : { ok: false, reason: `its aliases cannot be expanded: ${read.reason}` };
}
