import { open } from 'node:fs/promises';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';

/** What a message or an enumeration has, by its full name. */
type Types = ReadonlyMap<string, Members>;

interface Members {
  /** Of a message: each field, and the full name of its type, '' for a scalar. */
  readonly fields: ReadonlyMap<string, string>;
  /** Of an enumeration. */
  readonly values: readonly string[];
}

/** The names that an Envoy knows in its configuration. */
export interface EnvoyNames {
  /** What is in a package of protobuf, as `envoy.config.cluster.v3`; empty for an unknown one. */
  typesIn(pack: string): Promise<Types>;
}

const chunk = 8 << 20;
/** No description of a file is as large. In bytes. */
const largest = 256 << 10;
/** The end of the name of a file, and the tag of its package. */
const mark = Buffer.from('.proto\x12');
const longestName = 127;

/**
 * Finds the names that an Envoy knows in its binary, where protobuf for C++ keeps the descriptions
 * of its files as they are. So they are those of just this Envoy, with its extensions. Takes some
 * 0.1 s. Rejects where the binary cannot be read.
 */
export async function envoyNames(binary: string): Promise<EnvoyNames> {
  const places = await describedFiles(binary);
  const known = new Map<string, Promise<Types>>();
  return {
    typesIn(pack) {
      const types = known.get(pack) ?? readTypes(binary, pack, places.get(pack) ?? []);
      known.set(pack, types);
      return types;
    },
  };
}

/** Where the descriptions of files begin, by their package. */
async function describedFiles(binary: string): Promise<ReadonlyMap<string, readonly number[]>> {
  const found = new Map<string, number[]>();
  const file = await open(binary);
  try {
    const buffer = Buffer.alloc(chunk + 2 * longestName);
    for (let offset = 0, read = 1; read > 0; offset += chunk) {
      read = (await file.read(buffer, 0, buffer.length, offset)).bytesRead;
      for (let at = buffer.indexOf(mark); at >= 0 && at < read; at = buffer.indexOf(mark, at + 1)) {
        const begin = beginOf(buffer, at + mark.length - 1);
        const length = buffer[at + mark.length] ?? 0;
        const pack = buffer.toString('latin1', at + mark.length + 1, at + mark.length + 1 + length);
        if (begin === undefined || length > longestName || !/^[a-z][\w.]*$/.test(pack)) continue;
        const places = found.get(pack) ?? [];
        if (!places.includes(offset + begin)) found.set(pack, [...places, offset + begin]);
      }
    }
  } finally {
    await file.close();
  }
  return found;
}

/** Where the field begins whose text ends before `end`: its tag, and its length. */
function beginOf(buffer: Buffer, end: number): number | undefined {
  const lengths = Array.from({ length: longestName }, (_, length) => length);
  const length = lengths.find(
    (one) => buffer[end - one - 1] === one && buffer[end - one - 2] === 0x0a,
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

/** Reads a description up to its end, which nothing else tells: no field of it is behind that. */
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
      if (field === 12) return; // the syntax is the last
    }
  } catch {
    // Its end was not where it was thought to be.
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
  return Buffer.from(parts.find(([one]) => one === field)?.[1] ?? []).toString();
}
