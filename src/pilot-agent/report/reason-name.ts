/**
 * Returns the name of a reason for not being ready or live: its words up to the first detail, which
 * may be a path or the name of a secret. It is the anchor of the reason in docs/troubleshooting.md.
 * Pure.
 */
export function reasonName(reason: string): string {
  const [words = ''] = reason.split(/[:,(]| (?=\.?\/)|(?<=^secret) /);
  return words
    .trim()
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-');
}
