import { byText } from '../environment/age.ts';
import { type AnalysisFinding, findingKinds } from '../analyze/finding.ts';
import type { ResourceKey } from '../istio/documents/model.ts';

/** A finding in the status of a resource. istiod writes no name. */
export interface ValidationMessage {
  readonly documentationUrl: string;
  readonly level: string;
  /** `name`: the field and the sentence, for a person. */
  readonly type: { readonly code: string; readonly name: string };
}

/** The largest number of messages in a status, and of characters in a name. */
const most = { messages: 100, characters: 512 };

/**
 * Returns the messages of each resource of a source that has any, in order of codes and names.
 * Pure.
 */
export function validationMessages(
  findings: readonly AnalysisFinding[],
  source: string,
): ReadonlyMap<ResourceKey, readonly ValidationMessage[]> {
  const messages = new Map<ResourceKey, ValidationMessage[]>();
  for (const finding of findings) {
    const { key, origin } = finding;
    if (key === undefined || origin.source !== source) continue;
    const ofResource = messages.get(key) ?? [];
    ofResource.push(messageOf(finding));
    messages.set(key, ofResource);
  }
  return new Map(
    [...messages].map(([key, ofResource]) => [
      key,
      ofResource.sort(inOrder).slice(0, most.messages),
    ]),
  );
}

function messageOf({ code, field, reason }: AnalysisFinding): ValidationMessage {
  const text = field === '' ? reason : `${field}: ${reason}`;
  // The cut may leave half a surrogate pair, which the API would replace: it is replaced here.
  const name = Buffer.from(text.slice(0, most.characters)).toString();
  return {
    documentationUrl: `https://istio.io/v1.26/docs/reference/config/analysis/${code.toLowerCase()}/`,
    level: findingKinds[code].level.toUpperCase(),
    type: { code, name },
  };
}

const inOrder = ({ type: a }: ValidationMessage, { type: b }: ValidationMessage): number =>
  byText(a.code, b.code) || byText(a.name, b.name);
