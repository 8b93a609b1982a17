/** The number of successive connections in a bucket. */
const width = 32;

/**
 * Values by the number of a connection. Immutable: a change copies one bucket and the list of
 * buckets, not a thousand entries.
 */
export class ConnectionMap<V> implements Iterable<readonly [number, V]> {
  readonly size: number;
  readonly #buckets: ReadonlyMap<number, ReadonlyMap<number, V>>;

  private constructor(size: number, buckets: ReadonlyMap<number, ReadonlyMap<number, V>>) {
    this.size = size;
    this.#buckets = buckets;
  }

  static empty<V>(): ConnectionMap<V> {
    return new ConnectionMap<V>(0, new Map());
  }

  get(connection: number): V | undefined {
    return this.#bucketOf(connection)?.get(connection);
  }

  with(connection: number, value: V): ConnectionMap<V> {
    const before = this.#bucketOf(connection);
    const bucket = new Map(before).set(connection, value);
    const size = this.size + bucket.size - (before?.size ?? 0);
    return new ConnectionMap(size, new Map(this.#buckets).set(bucketNumber(connection), bucket));
  }

  without(connection: number): ConnectionMap<V> {
    const before = this.#bucketOf(connection);
    if (before?.has(connection) !== true) return this;
    const bucket = new Map(before);
    bucket.delete(connection);
    const buckets = new Map(this.#buckets);
    if (bucket.size === 0) buckets.delete(bucketNumber(connection));
    else buckets.set(bucketNumber(connection), bucket);
    return new ConnectionMap(this.size - 1, buckets);
  }

  *[Symbol.iterator](): Iterator<readonly [number, V]> {
    for (const bucket of this.#buckets.values()) yield* bucket;
  }

  #bucketOf(connection: number): ReadonlyMap<number, V> | undefined {
    return this.#buckets.get(bucketNumber(connection));
  }
}

const bucketNumber = (connection: number): number => Math.floor(connection / width);
