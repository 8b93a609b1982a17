import type { Resource } from '../istio/documents/model.ts';

type Aged = Pick<Resource, 'createdMs' | 'namespace' | 'name'>;

/**
 * Compares two resources in conflict, for sorting: by age, the older one first, then by namespace,
 * then by name. The first one wins. Pure.
 */
export function byAge(a: Aged, b: Aged): number {
  return a.createdMs - b.createdMs || byText(a.namespace, b.namespace) || byText(a.name, b.name);
}

/** Compares by code units, which is the same on every machine. */
export function byText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
