import { isMap } from '../../shared/text/split-content.ts';

/**
 * The greatest depth of a value. Envoy refuses 100 levels. Other readers of protobuf also stop at
 * 100, and count each level of JSON as three. The limit is below a third of that, because the value
 * becomes a part of a JSON that adds levels.
 */
const deepest = 25;

/**
 * Returns why a value cannot be passed on as JSON; undefined if it can. YAML has values that JSON
 * does not have, and values that contain themselves. Pure.
 */
export function jsonFlaw(value: unknown): string | undefined {
  try {
    JSON.stringify(value); // throws if a value contains itself, or is nested too deep
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
  return flaws.find((text) => text !== undefined);
}

/**
 * Says whether a value with this name is usually a secret. Pure.
 *
 * The token of LightStep is the only secret among the agent's own fields. `proxyMetadata` and
 * `ISTIO_META_*` may contain secrets, and the JSON of a variable may contain them anywhere.
 */
export function isSecretName(name: string): boolean {
  return /^ISTIO_METAJSON_|(?:token|secret|password|credential|(?:api|access)_?key)s?$/i.test(name);
}

/** Returns JSON without values that are secrets by their name or their text. Pure. */
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
