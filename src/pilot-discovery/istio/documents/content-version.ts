import { createHash } from 'node:crypto';

/**
 * Returns a hash of the content. Members are sorted by name first, so that equal content has an
 * equal version. Pure.
 */
export function contentVersion(content: unknown): string {
  const canonical = JSON.stringify(content, (_, value: unknown) => {
    if (value instanceof Map) return [...(value as Map<unknown, unknown>)];
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
  return createHash('sha256').update(canonical).digest('hex').slice(0, 16);
}
