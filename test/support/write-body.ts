import {
  type DescField,
  type DescMessage,
  fromJson,
  type JsonValue,
  toBinary,
} from '@bufbuild/protobuf';
import { isObject } from '../../src/shared/text/is-object.ts';
import { parseDuration } from '../../src/shared/text/value.ts';
import type { ConfigKind } from '../../src/pilot-discovery/mcp/config-types.ts';
import type { SentBody } from '../../src/pilot-discovery/mcp/read-body.ts';
import { specMessages } from '../../src/pilot-discovery/mcp/spec-messages.ts';

/**
 * Returns the body for a `spec` as a user has written it. Fields that this version of Istio's API
 * does not have are left out. Throws if the spec does not fit the message. Pure.
 */
export function writeBody(kind: ConfigKind, spec: unknown): SentBody {
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
