import type { Resource } from '../istio/model.ts';

type Aged = Pick<Resource, 'createdMs' | 'namespace' | 'name'>;

/**
 * Which of two in conflict wins: the one that was created earlier, then by namespace, then by name.
 * For sorting; pure.
 */
export function byAge(a: Aged, b: Aged): number {
  return a.createdMs - b.createdMs || byText(a.namespace, b.namespace) || byText(a.name, b.name);
}

/** By code units, which is the same on every machine. */
export function byText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
