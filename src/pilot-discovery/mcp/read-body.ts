import {
  type DescField,
  type DescMessage,
  fromBinary,
  type Message,
  toJson,
} from '@bufbuild/protobuf';
import { type ReflectMessage, reflect } from '@bufbuild/protobuf/reflect';
import { ownMember } from '../../shared/text/own-member.ts';
import type { ResourceBody } from '../istio/documents/model.ts';
import type { ConfigKind } from './config-types.ts';
import { forbiddenName } from './forbidden-name.ts';
import { specMessages } from './spec-messages.ts';

type Fields = Record<string, unknown>;

/**
 * Returns the `spec` in a body, as a user writes it. A field that this version of Istio's API does
 * not have becomes a member with an unknown name, in the same place: the reader decides how severe
 * that is. Throws if the body cannot be read, with the reason in a sentence. Pure.
 */
export function readBody(kind: ConfigKind, { typeUrl, value }: ResourceBody): unknown {
  const schema = specMessages[kind];
  const name = typeUrl.slice(typeUrl.lastIndexOf('/') + 1);
  if (name !== schema.typeName)
    throw new Error(`its body is '${name.slice(0, 200)}', and not ${schema.typeName}`);
  const flaw = forbiddenName(value);
  if (flaw !== undefined) throw new Error(flaw);
  const message = decoded(schema, value);
  const spec = toJson(schema, message) as Fields;
  markUnknown(reflect(schema, message), spec);
  return spec;
}

function decoded(schema: DescMessage, value: Uint8Array): Message {
  try {
    return fromBinary(schema, value);
  } catch (error) {
    throw new Error(`its body cannot be decoded: ${(error as Error).message}`);
  }
}

/** Adds a member for each unknown field of a message, and of the messages in it. */
function markUnknown(message: ReflectMessage, json: Fields): void {
  for (const { no } of message.getUnknown() ?? [])
    Object.assign(json, { [`field ${no}`]: '(not known)' });
  for (const field of message.fields) {
    if (!message.isSet(field) || messageOf(field) === undefined) continue;
    const inside = ownMember(json, field.jsonName);
    if (field.fieldKind === 'message') markUnknown(message.get(field), inside as Fields);
    else if (field.fieldKind === 'list')
      [...message.get(field)].forEach((item, index) =>
        markUnknown(item as ReflectMessage, (inside as Fields[])[index] ?? {}),
      );
    else if (field.fieldKind === 'map')
      for (const [key, item] of message.get(field))
        markUnknown(
          item as ReflectMessage,
          (ownMember(inside as Fields, String(key)) ?? {}) as Fields,
        );
  }
}

/** Returns the message of a field; undefined if it is a value in JSON, as a duration is. */
function messageOf(field: DescField): DescMessage | undefined {
  const { message } = field;
  return message?.typeName.startsWith('google.protobuf.') === true ? undefined : message;
}
