// Why: docs/decisions/008-a-refusal-names-the-users-line.md
import { findMembers, type TextPosition } from '../../shared/text/text-position.ts';
import type { EpochConfig, Refusal } from '../../epochs/ports.ts';
import { excerpt } from './excerpt.ts';
import { findField, type FieldMatch, joined, stepsOf } from './find-field.ts';
import { type UserText, layersOf, type Usable } from './layers.ts';
import { type RefusalWords, refusalWords } from './refusal-words.ts';
import { suggestion } from './suggestion.ts';
import { templateLine } from './template-line.ts';

/** In characters. */
const longest = 500;

/**
 * Explains a refusal: which text of the user is wrong, at which place, and what would be right.
 * Leaves out what it does not know. Always explains the same refusal in the same words. Never
 * rejects.
 *
 * @param words the message of Envoy, as `refusalOf` returns it
 * @param binary the Envoy that refused
 */
export async function explainRefusal(
  config: EpochConfig,
  words: string,
  binary: string,
): Promise<Refusal> {
  return config.kind === 'refused'
    ? { reason: words }
    : explained(config, words, binary).catch(() => ({ reason: words.slice(0, longest) }));
}

async function explained(config: Usable, words: string, binary: string): Promise<Refusal> {
  const refusal = refusalWords(words);
  const layers = await layersOf(config);
  const field = findField(refusal, layers);
  const place = await placeOf(refusal, field, layers);
  const placeExcerpt =
    place === undefined ? undefined : excerpt(place.layer.template ?? place.layer.text, place);
  const near = await suggestion(refusal, field, layers, binary).catch(() => undefined);
  const where =
    place === undefined
      ? blamed(config, layers)
      : `${place.layer.name}:${place.line}:${place.column}`;
  const reason = [
    where,
    fieldOf(refusal, field),
    `${refusal.problem}${near === undefined ? '' : `; did you mean '${near}'?`}`,
  ]
    .filter((part) => part !== '')
    .join(': ');
  return {
    reason: reason.slice(0, longest),
    ...(placeExcerpt !== undefined && { excerpt: placeExcerpt }),
  };
}

interface Place extends TextPosition {
  readonly layer: UserText;
}

async function placeOf(
  refusal: RefusalWords,
  field: FieldMatch | undefined,
  layers: readonly UserText[],
): Promise<Place | undefined> {
  if (field !== undefined && field.spot.path !== '') {
    const { layer, path } = field.spot;
    const { name, value } = (await findMembers(layer.text))(within(layer, path));
    const position = field.left > 0 || refusal.isUnknown === true ? name : value;
    return layer.template === undefined
      ? { ...position, layer }
      : { ...templateLine(layer.template, layer.text, position), layer };
  }
  // A text that does not parse has no fields. Then the place at which Envoy stopped is shown, if
  // Envoy read that file itself.
  const [layer] = layers;
  const isAsGiven =
    layer !== undefined &&
    layers.length === 1 &&
    layer.value === undefined &&
    refusal.position !== undefined;
  return isAsGiven && layer.template === undefined ? { ...refusal.position, layer } : undefined;
}

/** Converts a path in the whole configuration to a path in the text of a layer. */
function within({ at: fieldPath }: UserText, path: string): string {
  if (fieldPath === '') return path;
  return path.startsWith(fieldPath) ? path.slice(fieldPath.length).replace(/^\./, '') : '';
}

/** Names all texts that may be wrong, if nothing shows which one it is. */
function blamed(config: Usable, layers: readonly UserText[]): string {
  const names = layers.map(({ name }) => name);
  const generated =
    config.kind === 'generated' && config.origin === undefined && config.template === undefined
      ? ['the generated bootstrap']
      : [];
  return [...generated, ...names].join(', with ');
}

/**
 * Returns the field as the user names it, if it is found; for an unknown name, the field that
 * contains it.
 */
function fieldOf({ path, isUnknown }: RefusalWords, field: FieldMatch | undefined): string {
  const rest = stepsOf(path).slice(-(field?.left ?? Infinity) || Infinity);
  const named = rest.reduce(
    (before: string, step) =>
      typeof step === 'number' ? `${before}[${step}]` : joined(before, step),
    field?.spot.path ?? '',
  );
  return isUnknown === true ? named.replace(/\.?[^.]+$/, '') : named;
}
