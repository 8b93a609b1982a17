// Why: docs/decisions/076-maps-are-cut-into-chunks.md
import { onceForTwo } from './once-for-two.ts';

/**
 * Names in order, and their values. A chunk begins at the first name of the map, and at each name
 * that starts one.
 */
type Chunk<V> = ReadonlyMap<string, V>;

/** The average number of names in a chunk. */
const width = 32;

/**
 * A map in the order of its names. Immutable: a change copies the chunks near it and the list of
 * chunks, and keeps the rest. So {@link changedKeys} finds the differences from an earlier map
 * without looking at equal chunks. The start of a chunk depends only on the names: equal maps have
 * equal chunks, whatever their history.
 */
export class SortedMap<V> implements ReadonlyMap<string, V> {
  readonly size: number;
  readonly #chunks: readonly Chunk<V>[];
  readonly #firsts: readonly string[];

  private constructor(chunks: readonly Chunk<V>[], firsts: readonly string[], size: number) {
    [this.#chunks, this.#firsts, this.size] = [chunks, firsts, size];
  }

  static empty<V>(): SortedMap<V> {
    return new SortedMap<V>([], [], 0);
  }

  /** Returns a map of entries; of several entries with one name the last counts. */
  static of<V>(entries: Iterable<readonly [string, V]>): SortedMap<V> {
    return SortedMap.empty<V>().with(entries);
  }

  get(name: string): V | undefined {
    return this.#chunks[this.#indexOf(name)]?.get(name);
  }

  has(name: string): boolean {
    return this.#chunks[this.#indexOf(name)]?.has(name) === true;
  }

  /**
   * Returns the map with other values for some names: undefined removes a name. Returns the same
   * map if nothing differs.
   */
  with(edits: Iterable<readonly [string, V | undefined]>): SortedMap<V> {
    if (this.size === 0) return this.#first(edits);
    const byChunk = new Map<number, Map<string, V | undefined>>();
    const editAt = (index: number) => {
      const chunkEdits = byChunk.get(index) ?? new Map<string, V | undefined>();
      byChunk.set(index, chunkEdits);
      return chunkEdits;
    };
    for (const [name, value] of edits) editAt(Math.max(0, this.#indexOf(name))).set(name, value);
    for (const [index, chunkEdits] of [...byChunk]) {
      const chunk = this.#chunks[index];
      for (const [name, value] of chunkEdits)
        if (chunk?.get(name) === value) chunkEdits.delete(name);
      if (chunkEdits.size === 0) byChunk.delete(index);
    }
    if (byChunk.size === 0) return this;
    // The names after a removed first name belong to the chunk before.
    for (const [index, chunkEdits] of [...byChunk]) {
      const first = this.#firsts[index];
      if (
        index > 0 &&
        first !== undefined &&
        chunkEdits.has(first) &&
        chunkEdits.get(first) === undefined
      )
        editAt(index - 1);
    }
    return this.#rebuilt(byChunk);
  }

  /** Returns a map of these entries, as the first of an empty map. */
  #first(edits: Iterable<readonly [string, V | undefined]>): SortedMap<V> {
    const entries = [...new Map(edits)].filter(
      (entry): entry is [string, V] => entry[1] !== undefined,
    );
    if (entries.length === 0) return this;
    const chunks = chunksOf(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
    return new SortedMap(chunks, chunks.map(firstName), entries.length);
  }

  #rebuilt(byChunk: ReadonlyMap<number, ReadonlyMap<string, V | undefined>>): SortedMap<V> {
    const chunks: Chunk<V>[] = [];
    const firsts: string[] = [];
    let size = this.size;
    const last = this.#chunks.length;
    let begun = 0; // the next chunk to keep
    for (const start of [...byChunk.keys()].sort((a, b) => a - b)) {
      if (start < begun) continue;
      let end = start;
      const entries: (readonly [string, V])[] = [];
      let isInOrder = true;
      for (; byChunk.has(end) && end < last; end += 1) {
        const before = this.#chunks[end] ?? new Map<string, V>();
        const after = new Map(before);
        for (const [name, value] of byChunk.get(end) ?? []) {
          if (value === undefined) after.delete(name);
          else {
            if (!before.has(name)) isInOrder = false;
            after.set(name, value);
          }
        }
        size += after.size - before.size;
        for (const entry of after) entries.push(entry);
      }
      if (!isInOrder) entries.sort(([a], [b]) => (a < b ? -1 : 1));
      for (let index = begun; index < start; index += 1) this.#keep(index, chunks, firsts);
      for (const chunk of chunksOf(entries)) {
        chunks.push(chunk);
        firsts.push(firstName(chunk));
      }
      begun = end;
    }
    for (let index = begun; index < this.#chunks.length; index += 1)
      this.#keep(index, chunks, firsts);
    return new SortedMap(chunks, firsts, size);
  }

  #keep(index: number, chunks: Chunk<V>[], firsts: string[]): void {
    const [chunk, first] = [this.#chunks[index], this.#firsts[index]];
    if (chunk === undefined || first === undefined) return;
    chunks.push(chunk);
    firsts.push(first);
  }

  /** Returns the index of the chunk that has or would have a name: −1 before the first. */
  #indexOf(name: string): number {
    let [low, high] = [0, this.#firsts.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#firsts[middle] ?? '') <= name) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  /** Returns the chunks. Two maps share the same object for an unchanged chunk. */
  chunks(): readonly ReadonlyMap<string, V>[] {
    return this.#chunks;
  }

  *keys(): Generator<string, undefined> {
    for (const chunk of this.#chunks) yield* chunk.keys();
  }

  *values(): Generator<V, undefined> {
    for (const chunk of this.#chunks) yield* chunk.values();
  }

  *entries(): Generator<[string, V], undefined> {
    for (const chunk of this.#chunks) yield* chunk;
  }

  [Symbol.iterator](): Generator<[string, V], undefined> {
    return this.entries();
  }

  /** Yields the entries whose names begin with `prefix`. */
  *withPrefix(prefix: string): Generator<[string, V], undefined> {
    for (let index = Math.max(0, this.#indexOf(prefix)); index < this.#chunks.length; index += 1) {
      for (const entry of this.#chunks[index] ?? []) {
        if (entry[0].startsWith(prefix)) yield entry;
        else if (entry[0] > prefix) return;
      }
    }
  }

  forEach(look: (value: V, name: string, map: ReadonlyMap<string, V>) => void): void {
    for (const [name, value] of this.entries()) look(value, name, this);
  }
}

/** Returns the chunks of entries in order. */
function chunksOf<V>(entries: readonly (readonly [string, V])[]): readonly Chunk<V>[] {
  const chunks: Map<string, V>[] = [];
  for (const [name, value] of entries) {
    if (chunks.length === 0 || startsChunk(name)) chunks.push(new Map());
    chunks.at(-1)?.set(name, value);
  }
  return chunks;
}

const firstName = (chunk: Chunk<unknown>): string => chunk.keys().next().value ?? '';

/** Whether a chunk begins at a name, in any map: the lowest bits of FNV-1a decide. */
function startsChunk(name: string): boolean {
  let hash = 0x811c9dc5;
  for (let index = 0; index < name.length; index += 1)
    hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193);
  return ((hash ^ (hash >>> 15)) & (width - 1)) === 0;
}

/**
 * Returns the names that were added, removed or changed from one map to another. Computed once for
 * two maps, and only for the chunks that differ.
 */
export function changedKeys<V>(before: SortedMap<V>, after: SortedMap<V>): readonly string[] {
  return before === after ? [] : differences(before, after);
}

const differences = onceForTwo(differingKeys<unknown>);

function differingKeys<V>(before: SortedMap<V>, after: SortedMap<V>): readonly string[] {
  const [old, now] = [before.chunks(), after.chunks()];
  const changed: string[] = [];
  let [oldIndex, newIndex] = [0, 0];
  const firstOf = (chunk: Chunk<V> | undefined): string | undefined => chunk?.keys().next().value;
  const isBefore = (name: string | undefined, other: string | undefined) =>
    name !== undefined && (other === undefined || name < other);
  while (oldIndex < old.length || newIndex < now.length) {
    if (old[oldIndex] === now[newIndex]) {
      [oldIndex, newIndex] = [oldIndex + 1, newIndex + 1];
      continue;
    }
    const [gone, come]: [Chunk<V>[], Chunk<V>[]] = [[], []];
    let [oldFirst, newFirst] = [firstOf(old[oldIndex]), firstOf(now[newIndex])];
    do {
      const [oldChunk, newChunk] = [old[oldIndex], now[newIndex]];
      const [isOld, isNow] = [!isBefore(newFirst, oldFirst), !isBefore(oldFirst, newFirst)];
      if (isOld && oldChunk !== undefined) {
        gone.push(oldChunk);
        oldIndex += 1;
      }
      if (isNow && newChunk !== undefined) {
        come.push(newChunk);
        newIndex += 1;
      }
      [oldFirst, newFirst] = [firstOf(old[oldIndex]), firstOf(now[newIndex])];
    } while (oldFirst !== newFirst);
    for (const chunk of gone)
      for (const [name, value] of chunk)
        if (come.find((newChunk) => newChunk.has(name))?.get(name) !== value) changed.push(name);
    for (const chunk of come)
      for (const name of chunk.keys())
        if (!gone.some((oldChunk) => oldChunk.has(name))) changed.push(name);
  }
  return changed;
}
