import type { EpochConfig } from '../../epochs/ports.ts';
import { bytesOutside, largest } from '../../shared/files/outside-file.ts';
import { parseEnvoyYaml } from '../../proxy/envoy-yaml.ts';
import { parseJson } from '../../shared/text/parse-json.ts';

/** A text of the user's that a configuration is made of. */
export interface UserText {
  /** Where it is, for a person. */
  readonly name: string;
  /** What Envoy was given of it. */
  readonly text: string;
  /** The text in which a person looks, if it is another one: of a template. */
  readonly template?: string;
  /** The field that it is laid over; '' for the whole. */
  readonly at: string;
  /** What it says; undefined where it does not parse. */
  readonly value: unknown;
}

export type Usable = Exclude<EpochConfig, { readonly kind: 'refused' }>;

/**
 * The texts of the user's that a configuration is made of, as they are laid over each other, the
 * lowest one first. What the agent has made itself is none. A file that cannot be read any more
 * says nothing. Never rejects.
 */
export async function layersOf(config: Usable): Promise<readonly UserText[]> {
  const { overlays = [], override, overridePath = '' } = config;
  const above = [
    ...overlays.map(({ source, at, text }) => ({ name: `source ${source}`, at, text })),
    ...(override === ''
      ? []
      : [{ name: `ISTIO_BOOTSTRAP_OVERRIDE ${overridePath}`.trim(), at: '', text: override }]),
  ];
  return Promise.all(
    [...(await base(config)), ...above].map(async (layer) => ({
      ...layer,
      value: await valueOf(layer.text),
    })),
  );
}

async function base(config: Usable): Promise<readonly Omit<UserText, 'value'>[]> {
  const textOf = async (path: string) => bytesOutside(path, largest.envoy).then(String, () => '');
  if (config.kind === 'given')
    return [{ name: config.path, at: '', text: await textOf(config.path) }];
  const { text, origin, template } = config;
  if (template !== undefined)
    return [{ name: template, at: '', text, template: await textOf(template) }];
  return origin === undefined ? [] : [{ name: origin, at: '', text }];
}

async function valueOf(text: string): Promise<unknown> {
  try {
    return parseJson(text);
  } catch {
    const parsed = await parseEnvoyYaml(text);
    return parsed.ok ? parsed.value : undefined;
  }
}
