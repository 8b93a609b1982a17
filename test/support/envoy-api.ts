import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import protobuf from 'protobufjs';

const folders = [
  ...['envoy-api', 'googleapis', 'protoc-gen-validate', 'xds'].map((name) =>
    join('node_modules/@grpc/grpc-js-xds/deps', name),
  ),
  'node_modules/protobufjs',
  // Files of other APIs that Envoy's API imports and that none of those folders has.
  'proto',
].map((path) => resolve(path));

let loaded: protobuf.Root | undefined;

/**
 * Returns the part of Envoy's published API that is needed here: the files that src/shared/proto
 * has too, and their imports.
 */
export function envoyApi(): protobuf.Root {
  if (loaded !== undefined) return loaded;
  const root = new protobuf.Root();
  // A file that none of the folders has is built into protobufjs.
  root.resolvePath = (_, target) =>
    folders.map((folder) => join(folder, target)).find((path) => existsSync(path)) ?? target;
  const parts = readdirSync('src/shared/proto/envoy', { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('_pb.ts'),
  );
  root.loadSync(
    parts.map((name) => join('envoy', name.replace(/_pb\.ts$/, '.proto'))),
    { keepCase: true },
  );
  root.resolveAll();
  return (loaded = root);
}

/** Returns a message as the published API reads it, without the fields that are not set. */
export function published(typeUrl: string, body: Uint8Array): unknown {
  const name = typeUrl.split('/').pop() ?? '';
  const type = envoyApi().lookup(name);
  if (!(type instanceof protobuf.Type))
    return { '@type': name, body: Buffer.from(body).toString('base64') };
  return { '@type': name, ...(plain(type, type.decode(body)) as object) };
}

type Fields = Readonly<Record<string, unknown>>;

function plain(type: protobuf.Type, message: object): unknown {
  const fields = message as Fields;
  const name = type.fullName.slice(1);
  if (name === 'google.protobuf.Any')
    return published(String(fields['type_url']), fields['value'] as Uint8Array);
  if (name === 'google.protobuf.Duration')
    return `${Number(fields['seconds'] ?? 0) + Number(fields['nanos'] ?? 0) / 1e9}s`;
  const entries = type.fieldsArray.flatMap((field) => {
    const value = Object.hasOwn(fields, field.name) ? fields[field.name] : undefined;
    const isEmpty =
      value === null ||
      value === undefined ||
      (field.repeated && (value as unknown[]).length === 0);
    return isEmpty ? [] : [[field.name, several(field, value)] as const];
  });
  return Object.fromEntries(entries);
}

function several(field: protobuf.Field, value: unknown): unknown {
  if (field instanceof protobuf.MapField)
    return Object.fromEntries(
      Object.entries(value as Fields).map(([key, inner]) => [key, plainValue(field, inner)]),
    );
  return field.repeated
    ? (value as unknown[]).map((inner) => plainValue(field, inner))
    : plainValue(field, value);
}

function plainValue({ resolvedType: type }: protobuf.Field, value: unknown): unknown {
  if (type instanceof protobuf.Enum) return type.valuesById[value as number] ?? value;
  if (type !== null) return plain(type, value as object);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  return typeof value === 'object' && value !== null && 'low' in value
    ? JSON.stringify(value)
    : value; // a Long
}
