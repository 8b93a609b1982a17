import { isDeepStrictEqual } from 'node:util';
import type { AnyResource } from './model.ts';

/**
 * Returns whether two resources have the same content, whatever their origins and the order of
 * their members are. Pure.
 */
export function isSameContent(
  first: AnyResource | undefined,
  second: AnyResource | undefined,
): boolean {
  if (first === undefined || second === undefined) return first === second;
  return first === second || isDeepStrictEqual(contentOf(first), contentOf(second));
}

const contentOf = (resource: AnyResource): object => ({ ...resource, origin: undefined });
