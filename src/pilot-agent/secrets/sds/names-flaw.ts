/**
 * Envoy opens a stream for each secret. A path has at most 4,096 bytes, and a name has two paths.
 */
const [mostNames, longestName] = [1_000, 8_192 + 16];

/** Returns why a client cannot get all names that it requests; undefined if it can. Pure. */
export function namesFlaw(names: readonly string[]): string | undefined {
  const { length: count } = names;
  if (count > mostNames) return `it asks for ${count} secrets, and the limit is ${mostNames}`;
  const long = names.find(({ length }) => length > longestName);
  return long && `it asks for a name of ${long.length} characters, and the limit is ${longestName}`;
}
