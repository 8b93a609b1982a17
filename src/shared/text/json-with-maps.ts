/** Writes a value as JSON, with a map as an object. Pure. */
export const jsonWithMaps = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown): unknown =>
    inner instanceof Map ? Object.fromEntries(inner as Map<unknown, unknown>) : inner,
  );
