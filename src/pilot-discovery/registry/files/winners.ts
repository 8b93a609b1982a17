import { type AnyResource, type Flaw, keyOf, type ResourceKey } from '../../istio/model.ts';
import type { KnownFile } from './known-file.ts';

/** What a folder says as a whole. */
export interface Winners {
  readonly resources: ReadonlyMap<ResourceKey, AnyResource>;
  readonly flaws: readonly Flaw[];
}

/**
 * Of each key the resource that counts: the first of the first file that has it, else the last
 * good one of a file in which it is bad by now, else that of `told`, if it is bad somewhere. One
 * that is bad and has no good version closes what it would restrict. Pure.
 *
 * @param files in order of their paths
 * @param told what counted before
 */
export function winnersOf(
  files: Iterable<KnownFile>,
  told: ReadonlyMap<ResourceKey, AnyResource>,
): Winners {
  const resources = new Map<ResourceKey, AnyResource>();
  const flaws: Flaw[] = [];
  const all = [...files];
  for (const file of all) {
    for (const flaw of file.flaws) flaws.push(flaw);
    for (const resource of file.resources) {
      const key = keyOf(resource);
      const winner = resources.get(key);
      if (winner === undefined) resources.set(key, resource);
      else flaws.push(twice(key, resource, winner));
    }
  }
  for (const { kept } of all)
    for (const [key, resource] of kept) if (!resources.has(key)) resources.set(key, resource);
  for (const { key = '', severity } of flaws) {
    const last = severity === 'error' ? told.get(key) : undefined;
    if (last !== undefined && last.closes === undefined && !resources.has(key))
      resources.set(key, last);
  }
  for (const closing of all.flatMap((file) => file.closing)) {
    const key = keyOf(closing);
    if (resources.has(key)) continue;
    resources.set(key, closing);
    flaws.push({
      key,
      origin: closing.origin,
      field: '',
      reason: `it has no good version: ${closing.closes ?? ''}`,
      severity: 'error',
    });
  }
  return { resources, flaws };
}

function twice(key: ResourceKey, { origin }: AnyResource, winner: AnyResource): Flaw {
  const reason = `${key} is in ${winner.origin.path}:${winner.origin.line} too, which comes first; this one is not used`;
  return { key, origin, field: '', reason, severity: 'error' };
}
