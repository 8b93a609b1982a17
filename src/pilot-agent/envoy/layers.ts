import type { EpochConfig } from '../../epochs/ports.ts';
import { bytesOutside, largest } from '../../shared/files/outside-file.ts';
import { parseEnvoyYaml } from '../../proxy/envoy-yaml.ts';
import { parseJson } from '../../shared/text/parse-json.ts';

/** A text of the user that is part of a configuration. */
export interface UserText {
  /** Its origin, for a person. */
  readonly name: string;
  /** The text that Envoy was given. */
  readonly text: string;
  /** The template of the user from which the text was made, if there is one. */
  readonly template?: string;
  /** The field that the text is laid over; '' for the whole configuration. */
  readonly at: string;
  /** The parsed text; undefined if it does not parse. */
  readonly value: unknown;
}

export type Usable = Exclude<EpochConfig, { readonly kind: 'refused' }>;

/**
 * Returns the texts of the user in a configuration, in the order of the layers, the lowest one
 * first. Leaves out the parts that the agent made. A file that can no longer be read counts as
 * empty. Never rejects.
 */
export async function layersOf(config: Usable): Promise<readonly UserText[]> {
  const { overlays = [], override, overridePath = '' } = config;
  const above = [
    ...overlays.map(({ source, at: fieldPath, text }) => ({
      name: `source ${source}`,
      at: fieldPath,
      text,
    })),
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
