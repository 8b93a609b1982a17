/** How many earlier warnings are remembered: their texts may contain names from outside. */
const most = 100;

/**
 * Returns the warnings that need not be logged again, after a reading with these. All those of the
 * reading are among them. Pure.
 */
export function loggedWarnings(
  before: ReadonlySet<string>,
  warnings: readonly string[],
): ReadonlySet<string> {
  if (warnings.every((warning) => before.has(warning))) return before;
  const now = new Set(warnings);
  const earlier = [...before].filter((warning) => !now.has(warning));
  return new Set([...earlier.slice(-most), ...now]);
}
