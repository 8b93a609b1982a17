/** How deep lists and maps may be nested. */
export const mostLevels = 100;

/** How much of a value may be visited. */
export interface ValueLimits {
  readonly values: number;
  readonly levels: number;
}

/**
 * Returns why a value is too large to visit; undefined if it is not. A value counts again for each
 * alias of it, and a value that contains itself is always too large. Pure.
 */
export function valueFlaw(content: unknown, { values, levels }: ValueLimits): string | undefined {
  const open = [{ value: content, level: 0 }];
  let count = 1;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, level } = next;
    if (typeof value !== 'object' || value === null) continue;
    if (level === levels) return `it is nested more than ${levels} levels deep`;
    for (const member of Object.values(value) as unknown[]) {
      if ((count += 1) > values) return `it has more than ${values} values, which is the limit`;
      open.push({ value: member, level: level + 1 });
    }
  }
  return undefined;
}
