import {
  type DescField,
  type DescMessage,
  fromJson,
  type JsonValue,
  toBinary,
} from '@bufbuild/protobuf';
import { isObject } from '../../shared/text/is-object.ts';
import { parseDuration } from '../../shared/text/value.ts';
import type { ResourceBody } from '../istio/documents/model.ts';
import type { ConfigKind } from './config-types.ts';
import { specMessages } from './spec-messages.ts';

/**
 * Returns a `spec`, as a user has written it, as a message of Istio's API. Fields that this version
 * of the API does not have are left out. Throws if the spec does not fit the message. Pure.
 */
export function writeMessage(kind: ConfigKind, spec: unknown): ResourceBody {
  const schema = specMessages[kind];
  const message = fromJson(schema, canonicalJson(schema, spec ?? {}) as JsonValue);
  return {
    typeUrl: `type.googleapis.com/${schema.typeName}`,
    value: toBinary(schema, message),
  };
}

/** Returns the value without unknown fields, and with durations as protobuf's JSON has them. */
function canonicalJson(schema: DescMessage, value: unknown): unknown {
  if (!isObject(value)) return value;
  const fields = new Map(
    schema.fields.flatMap((field) => [
      [field.jsonName, field] as const,
      [field.name, field] as const,
    ]),
  );
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      const field = fields.get(name);
      return field === undefined || member === undefined ? [] : [[name, ofField(field, member)]];
    }),
  );
}

function ofField({ fieldKind, message }: DescField, value: unknown): unknown {
  if (message === undefined) return value;
  if (fieldKind === 'list')
    return Array.isArray(value) ? value.map((item) => ofMessage(message, item ?? {})) : value;
  if (fieldKind === 'map' && isObject(value))
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, ofMessage(message, item)]),
    );
  return ofMessage(message, value);
}

function ofMessage(schema: DescMessage, value: unknown): unknown {
  if (schema.typeName !== 'google.protobuf.Duration') return canonicalJson(schema, value);
  const ms = typeof value === 'string' ? parseDuration(value) : undefined;
  return ms === undefined ? value : `${ms / 1_000}s`;
}
