// Why: docs/decisions/004-the-agent-merges-the-override.md
import type { EpochConfig } from '../epochs/ports.ts';
import { bytesOutside, largest } from '../shared/files/outside-file.ts';
import { type Parsed, parseEnvoyYaml } from './envoy-yaml.ts';
import { parseJson, TooDeep } from '../shared/text/parse-json.ts';
import { isObject } from '../shared/text/is-object.ts';

type Fields = Readonly<Record<string, unknown>>;
type WithOverride = Exclude<EpochConfig, { readonly kind: 'refused' }>;

/** The configuration with everything merged over it, as JSON; or the reason why there is none. */
export type Merged =
  { readonly ok: true; readonly text: string } | { readonly ok: false; readonly reason: string };

const ofUser = 'ISTIO_BOOTSTRAP_OVERRIDE';

/**
 * Merges the overlays of sources, and then the override, over a configuration. Envoy would do so
 * for `--config-yaml`, but everybody can read its arguments. Never rejects.
 */
export async function mergeOverride(config: WithOverride): Promise<Merged> {
  const overlays = [
    ...(config.overlays ?? []).map(({ source, ...overlay }) => ({
      ...overlay,
      name: `source ${source}`,
    })),
    ...(config.override === ''
      ? []
      : [{ name: `${ofUser} ${config.overridePath ?? ''}`.trim(), at: '', text: config.override }]),
  ];
  try {
    return await merged(config, overlays);
  } catch (error) {
    const why =
      error instanceof RangeError
        ? 'it is too deep, or too large, to be merged'
        : `this is a bug: ${String(error)}`;
    return { ok: false, reason: `${overlays.map(({ name }) => name).join(', ')}: ${why}` };
  }
}

interface NamedOverlay {
  readonly name: string;
  readonly at: string;
  readonly text: string;
}

async function merged(config: WithOverride, overlays: readonly NamedOverlay[]): Promise<Merged> {
  const below = await baseOf(config);
  const names = overlays.map(({ name }) => name).join(', ');
  if (!below.ok)
    return {
      ok: false,
      reason: `${names} cannot be merged over ${nameOf(config)}${placeOf(below)}: ${below.reason}`,
    };
  const base = below.value ?? {};
  if (!isObject(base)) return { ok: false, reason: `${nameOf(config)} has no fields` };
  let whole: Fields = base;
  for (const { name, at: path, text } of overlays) {
    const above = await parseEnvoyYaml(text);
    if (!above.ok) return { ok: false, reason: `${name}${placeOf(above)}: ${above.reason}` };
    if (above.value === undefined || above.value === null) continue; // it is empty
    const over = placed(above.value, path);
    if (!isObject(over)) return { ok: false, reason: `${name}: it is not YAML with fields` };
    whole = mergeMessages(whole, over);
  }
  return {
    ok: true,
    text: JSON.stringify(config.withAdminLayer === true ? adminLayered(whole) : whole),
  };
}

/** Adds an admin layer, without which no runtime value can be set. There can be only one. */
function adminLayered(config: Fields): Fields {
  const name = 'layeredRuntime' in config ? 'layeredRuntime' : 'layered_runtime';
  const runtime = isObject(config[name]) ? config[name] : {};
  const layers: readonly unknown[] = Array.isArray(runtime['layers']) ? runtime['layers'] : [];
  if (layers.some((layer) => isObject(layer) && ('admin_layer' in layer || 'adminLayer' in layer)))
    return config;
  return {
    ...config,
    [name]: { ...runtime, layers: [...layers, { name: 'pilot-agent', admin_layer: {} }] },
  };
}

/** Returns a value as the field of a configuration, at `path`. */
function placed(value: unknown, path: string): unknown {
  const fields = path === '' ? [] : path.split('.');
  return fields.reduceRight((inner, field) => ({ [field]: inner }), value);
}

function placeOf({ position }: Extract<Parsed, { readonly ok: false }>): string {
  return position === undefined ? '' : `:${position.line}:${position.column}`;
}

function nameOf(config: WithOverride): string {
  return config.kind === 'given' ? config.path : 'the bootstrap';
}

async function baseOf(config: WithOverride): Promise<Parsed> {
  if (config.kind === 'generated')
    return config.extension === '.json' ? parseEnvoyJson(config.text) : parseEnvoyYaml(config.text);
  const extension = /\.(?:json|ya?ml)$/.exec(config.path)?.[0];
  if (extension === undefined)
    return { ok: false, reason: 'only .json, .yaml and .yml can be merged' };
  try {
    const text = (await bytesOutside(config.path, largest.envoy)).toString();
    return extension === '.json' ? parseEnvoyJson(text) : await parseEnvoyYaml(text);
  } catch (error) {
    return { ok: false, reason: `it cannot be read: ${(error as Error).message}` };
  }
}

function parseEnvoyJson(text: string): Parsed {
  try {
    return { ok: true, value: parseJson(text) };
  } catch (error) {
    return { ok: false, reason: error instanceof TooDeep ? error.message : 'it is not JSON' };
  }
}

/**
 * Groups of fields of which a message can have only one. The list covers all messages that a merge
 * can reach. They are few, because the elements of a repeated field are never merged
 * (envoy/config/bootstrap/v3/bootstrap.proto and the messages of its singular fields).
 */
const oneofs: readonly (readonly string[])[] = [
  ['socket_address', 'pipe', 'envoy_internal_address'],
  ['port_value', 'named_port'],
  ['path', 'path_config_source', 'api_config_source', 'ads', 'self'],
  ['reject_all', 'exclusion_list', 'inclusion_list'],
  ['envoy_grpc', 'google_grpc'],
  ['ssl_credentials', 'google_default', 'local_credentials'],
  ['filename', 'inline_bytes', 'inline_string', 'environment_variable'],
  ['user_agent_version', 'user_agent_build_version'],
  ['json_format', 'text_format'],
];
/** Maps by a key, and google.protobuf.Struct: a value in them replaces the other one. */
const maps: readonly string[] = [
  'metadata',
  'config',
  'json_format',
  'dynamic_parameters',
  'args',
  'certificate_provider_instances',
];

/**
 * Merges two messages in JSON as protobuf's `MergeFrom` does: repeated fields are appended,
 * messages are merged, other fields are replaced. A field with its default (0, false, '') counts as
 * not set. Pure.
 */
export function mergeMessages(base: Fields, over: Fields): Fields {
  const merged = new Map(Object.entries(base));
  const names = new Map(Object.keys(base).map((name) => [snake(name), name]));
  for (const [given, value] of Object.entries(over)) {
    const field = snake(given);
    const name = names.get(field) ?? given;
    const group = oneofs.find((members) => members.includes(field));
    if (value === null || (group === undefined && isDefault(value) && merged.has(name))) continue;
    for (const other of group ?? []) if (other !== field) merged.delete(names.get(other) ?? other);
    merged.set(name, mergeValues(field, merged.get(name), value));
  }
  return Object.fromEntries(merged);
}

function mergeValues(field: string, base: unknown, over: unknown): unknown {
  if (Array.isArray(base) && Array.isArray(over))
    return [...(base as readonly unknown[]), ...(over as readonly unknown[])];
  if (!isObject(base) || !isObject(over)) return over;
  if ('@type' in base || '@type' in over) return over; // google.protobuf.Any holds bytes
  return maps.includes(field) ? { ...base, ...over } : mergeMessages(base, over);
}

/** Returns one name for a field, because protobuf's JSON allows two. */
function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function isDefault(value: unknown): boolean {
  return value === 0 || value === false || value === '';
}
