import { meant } from '../../shared/text/one-edit.ts';
import { envoyNames, type EnvoyNames } from './envoy-names.ts';
import { type FieldMatch, namesOf, stepsOf } from './find-field.ts';
import type { UserText } from './layers.ts';
import type { RefusalWords } from './refusal-words.ts';
import { ownMember } from '../../shared/text/own-member.ts';

/**
 * Suggests the name that the user probably meant, if exactly one name of this Envoy, or of the
 * configuration, is one edit away; otherwise undefined. Rejects if `binary` cannot be read.
 */
export async function suggestion(
  words: RefusalWords,
  field: FieldMatch | undefined,
  layers: readonly UserText[],
  binary: string,
): Promise<string | undefined> {
  const { problem, path, isUnknown, message, values: [value = ''] = [] } = words;
  if (/unknown cluster/i.test(problem)) return meant(value, namesOf('clusters', layers));
  if (isUnknown === true && message !== undefined) {
    const fields =
      (await (await envoyNames(binary)).typesIn(packageOf(message))).get(message)?.fields ??
      new Map<string, string>();
    const name = path.split('.').at(-1) ?? '';
    return meant(name, /[A-Z]/.test(name) ? [...fields.keys()].map(camel) : [...fields.keys()]);
  }
  if (/^'.*' is not a type/.test(problem)) {
    const [, server = '', type = ''] = /^(.*\/)(.*)$/.exec(value) ?? [];
    const near = meant(type, [
      ...(await (await envoyNames(binary)).typesIn(packageOf(type))).keys(),
    ]);
    return near && `${server}${near}`;
  }
  if (!problem.startsWith('unknown enum value') || field === undefined) return undefined;
  return meant(value, await valuesAt(field, await envoyNames(binary)));
}

/** Returns the values of the enumeration that belongs at a spot. */
async function valuesAt({ spot }: FieldMatch, names: EnvoyNames): Promise<readonly string[]> {
  let type = 'envoy.config.bootstrap.v3.Bootstrap';
  let value = spot.layer.at === '' ? spot.layer.value : undefined;
  for (const step of stepsOf(spot.path)) {
    value =
      typeof value === 'object' && value !== null
        ? ownMember(value as Readonly<Record<string, unknown>>, String(step))
        : undefined;
    if (typeof step === 'number') continue;
    const { fields } = (await names.typesIn(packageOf(type))).get(type) ?? {};
    type = fields?.get(snake(step)) ?? '';
    if (type === 'google.protobuf.Any')
      type = String((value as { '@type'?: unknown } | undefined)?.['@type']).replace(/^.*\//, '');
  }
  return (await names.typesIn(packageOf(type))).get(type)?.values ?? [];
}

/** Names of packages begin with a small letter, names of types do not. */
function packageOf(type: string): string {
  return type.replace(/\.[A-Z].*$/, '');
}

function camel(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
