import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type DescField, type DescFile, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import protobuf from 'protobufjs';
import { describe, expect, it } from 'vitest';
import { envoyApi } from '../../support/envoy-api.ts';

const folder = 'src/shared/proto/envoy';
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('_pb.ts'),
);
/** The published names of messages that have another name here; they are equal on the wire. */
const otherNames: Readonly<Record<string, string>> = {
  'envoy.extensions.transport_sockets.tls.v3.ValidationContext':
    'envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext',
  'envoy.extensions.transport_sockets.tls.v3.DataSource': 'envoy.config.core.v3.DataSource',
  'envoy.service.discovery.v3.Node': 'envoy.config.core.v3.Node',
  'envoy.service.discovery.v3.ControlPlane': 'envoy.config.core.v3.ControlPlane',
  'envoy.service.discovery.v3.Status': 'google.rpc.Status',
};

const all = envoyApi();

const nested = (message: DescMessage): readonly DescMessage[] => [
  message,
  ...message.nestedMessages.flatMap(nested),
];

/** Returns the type of a field on the wire, and whether the field may be repeated. */
function written(field: DescField): string {
  const valueType = (
    kind: 'scalar' | 'message' | 'enum',
    { scalar, message, enum: named }: Pick<DescField, 'scalar' | 'message' | 'enum'>,
  ) => {
    if (kind === 'message') return otherNames[message?.typeName ?? ''] ?? message?.typeName ?? '';
    return kind === 'enum'
      ? (named?.typeName ?? '')
      : scalar === undefined
        ? ''
        : ScalarType[scalar].toLowerCase();
  };
  switch (field.fieldKind) {
    case 'list':
      return `repeated ${valueType(field.listKind, field)}`;
    case 'map':
      return `map<${ScalarType[field.mapKey].toLowerCase()}, ${valueType(field.mapKind, field)}>`;
    default:
      return valueType(field.fieldKind, field);
  }
}

function publishedAs(field: protobuf.Field): string {
  const name = field.resolvedType === null ? field.type : field.resolvedType.fullName.slice(1);
  if (field instanceof protobuf.MapField) return `map<${field.keyType}, ${name}>`;
  return field.repeated ? `repeated ${name}` : name;
}

describe("what is generated of Envoy's API", () => {
  it.each(files)(
    'has in %s the fields that Envoy has published, with their numbers and types',
    async (name) => {
      const module = (await import(join('../../../src/shared/proto/envoy', name))) as Readonly<
        Record<string, unknown>
      >;
      const file = Object.entries(module).find(([key]) => key.startsWith('file_'))?.[1] as DescFile;
      const messages = file.messages.flatMap(nested);
      const differing = messages.flatMap((message) => {
        const other = all.lookup(otherNames[message.typeName] ?? message.typeName);
        if (!(other instanceof protobuf.Type)) return [`${message.typeName} is not published`];
        return message.fields.flatMap((field) => {
          const publishedField = other.fieldsArray.find(({ id }) => id === field.number);
          if (publishedField === undefined)
            return [`${message.typeName}.${field.name} = ${field.number} is not published`];
          const [here, there] = [
            `${written(field)} ${field.name}`,
            `${publishedAs(publishedField)} ${publishedField.name}`,
          ];
          // A message that is only passed on is bytes here, which are the same on the wire.
          const isPassedOn =
            publishedField.resolvedType instanceof protobuf.Type &&
            here === `bytes ${publishedField.name}`;
          return here === there || isPassedOn
            ? []
            : [`${message.typeName}: ${here} is published as ${there}`];
        });
      });
      expect(differing).toEqual([]);
    },
  );
});
