import { open } from 'node:fs/promises';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';

/** The members of each message and enumeration, by its full name. */
type Types = ReadonlyMap<string, Members>;

interface Members {
  /** The fields of a message, each with the full name of its type, '' for a scalar. */
  readonly fields: ReadonlyMap<string, string>;
  /** The values of an enumeration. */
  readonly values: readonly string[];
}

/** The names that an Envoy knows in its configuration. */
export interface EnvoyNames {
  /**
   * Resolves to the types of a package of protobuf, such as `envoy.config.cluster.v3`; empty for an
   * unknown package.
   */
  typesIn(pack: string): Promise<Types>;
}

const chunk = 8 << 20;
/** In bytes. No description of a file is as large. */
const largest = 256 << 10;
/** The end of a file name, and the tag of the package that follows it. */
const mark = Buffer.from('.proto\x12');
const longestName = 127;

/**
 * Finds the names that an Envoy knows in its binary, where protobuf for C++ stores the descriptions
 * of its files unchanged. So the names match this very Envoy, with its extensions. Takes about
 * 0.1 s. Rejects if the binary cannot be read.
 */
export async function envoyNames(binary: string): Promise<EnvoyNames> {
  const places = await describedFiles(binary);
  const cache = new Map<string, Promise<Types>>();
  return {
    typesIn(pack) {
      const types = cache.get(pack) ?? readTypes(binary, pack, places.get(pack) ?? []);
      cache.set(pack, types);
      return types;
    },
  };
}

/** Returns the offsets at which the descriptions of files begin, by package. */
async function describedFiles(binary: string): Promise<ReadonlyMap<string, readonly number[]>> {
  const offsets = new Map<string, number[]>();
  const file = await open(binary);
  try {
    const buffer = Buffer.alloc(chunk + 2 * longestName);
    for (let offset = 0, read = 1; read > 0; offset += chunk) {
      read = (await file.read(buffer, 0, buffer.length, offset)).bytesRead;
      for (
        let position = buffer.indexOf(mark);
        position >= 0 && position < read;
        position = buffer.indexOf(mark, position + 1)
      ) {
        const begin = beginOf(buffer, position + mark.length - 1);
        const length = buffer[position + mark.length] ?? 0;
        const pack = buffer.toString(
          'latin1',
          position + mark.length + 1,
          position + mark.length + 1 + length,
        );
        if (begin === undefined || length > longestName || !/^[a-z][\w.]*$/.test(pack)) continue;
        const places = offsets.get(pack) ?? [];
        if (!places.includes(offset + begin)) offsets.set(pack, [...places, offset + begin]);
      }
    }
  } finally {
    await file.close();
  }
  return offsets;
}

/**
 * Returns the offset of the field whose text ends before `end`: the field begins with its tag and
 * length.
 */
function beginOf(buffer: Buffer, end: number): number | undefined {
  const lengths = Array.from({ length: longestName }, (_, length) => length);
  const length = lengths.find(
    (candidate) =>
      buffer[end - candidate - 1] === candidate && buffer[end - candidate - 2] === 0x0a,
  );
  return length === undefined || length === 0 ? undefined : end - length - 2;
}

async function readTypes(binary: string, pack: string, places: readonly number[]): Promise<Types> {
  const types = new Map<string, Members>();
  const file = await open(binary);
  try {
    for (const place of places) {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(largest), 0, largest, place);
      describe(buffer.subarray(0, bytesRead), pack, types);
    }
  } finally {
    await file.close();
  }
  return types;
}

/**
 * Reads a description up to its end. Its length is not stored, so the first impossible field marks
 * the end.
 */
function describe(bytes: Buffer, pack: string, types: Map<string, Members>): void {
  const reader = new BinaryReader(bytes);
  try {
    for (
      let [field, wire] = reader.tag();
      wire === WireType.LengthDelimited && field <= 12;
      [field, wire] = reader.tag()
    ) {
      const part = reader.bytes();
      if (field === 4) message(part, pack, types);
      if (field === 5) enumeration(part, pack, types);
      if (field === 12) return; // the syntax is the last field
    }
  } catch {
    // The end of the bytes was not at the expected offset.
  }
}

function message(bytes: Uint8Array, parent: string, types: Map<string, Members>): void {
  const parts = partsOf(bytes);
  const name = `${parent}.${textOf(parts, 1)}`;
  const fields = parts.filter(([field]) => field === 2).map(([, part]) => partsOf(part));
  types.set(name, {
    fields: new Map(fields.map((field) => [textOf(field, 1), textOf(field, 6).replace(/^\./, '')])),
    values: [],
  });
  for (const [field, part] of parts) {
    if (field === 3) message(part, name, types);
    if (field === 4) enumeration(part, name, types);
  }
}

function enumeration(bytes: Uint8Array, parent: string, types: Map<string, Members>): void {
  const parts = partsOf(bytes);
  const values = parts.filter(([field]) => field === 2).map(([, part]) => textOf(partsOf(part), 1));
  types.set(`${parent}.${textOf(parts, 1)}`, { fields: new Map(), values });
}

type Part = readonly [field: number, bytes: Uint8Array];

function partsOf(bytes: Uint8Array): readonly Part[] {
  const reader = new BinaryReader(bytes);
  const parts: Part[] = [];
  while (reader.pos < reader.len) {
    const [field, wire] = reader.tag();
    if (wire === WireType.LengthDelimited) parts.push([field, reader.bytes()]);
    else reader.skip(wire, field);
  }
  return parts;
}

function textOf(parts: readonly Part[], field: number): string {
  return Buffer.from(parts.find(([number]) => number === field)?.[1] ?? []).toString();
}
