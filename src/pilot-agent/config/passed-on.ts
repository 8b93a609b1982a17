import { isMap } from '../../shared/text/split-content.ts';

/**
 * Envoy refuses 100 levels, and readers of protobuf count three for each; some are around this.
 */
const deepest = 25;

/**
 * Why a value cannot be passed on as JSON; undefined if it can. YAML has values that JSON has not,
 * and values that contain themselves. Pure.
 */
export function jsonFlaw(value: unknown): string | undefined {
  try {
    JSON.stringify(value); // throws for what contains itself, and for what is too deep for it
  } catch {
    return tooDeep;
  }
  return flaw(value, 0);
}

const tooDeep = `is nested more than ${deepest} levels deep`;

function flaw(value: unknown, level: number): string | undefined {
  if (level > deepest) return tooDeep;
  if (typeof value === 'number')
    return Number.isFinite(value) ? undefined : `${value} is not a number of JSON`;
  if (value === null || ['string', 'boolean'].includes(typeof value)) return undefined;
  if (!Array.isArray(value) && !isMap(value)) return 'is not a value of JSON';
  const flaws = Object.values(value).map((member) => flaw(member, level + 1));
  return flaws.find((found) => found !== undefined);
}

/**
 * Whether what is called so is a secret as a rule. Pure.
 *
 * Of the agent's own fields that is the token of LightStep. `proxyMetadata` and `ISTIO_META_*` may
 * have others, and the JSON of a variable may have them anywhere.
 */
export function isSecretName(name: string): boolean {
  return /^ISTIO_METAJSON_|(?:token|secret|password|credential|(?:api|access)_?key)s?$/i.test(name);
}

/** JSON without what is a secret by its name or its text. Pure. */
export function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((item) => !isKey(item)).map(withoutSecrets);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(
    ([name, member]) => !isSecretName(name) && !isKey(member),
  );
  return Object.fromEntries(members.map(([name, member]) => [name, withoutSecrets(member)]));
}

function isKey(value: unknown): boolean {
  return typeof value === 'string' && value.includes('PRIVATE KEY-----');
}
