import type { EnvoyRequest } from '../../shared/xds/messages.ts';
import { clientLimits } from './client-limits.ts';

const mostNames = clientLimits.names.value;
/** In characters. */
const longestName = clientLimits.text.value;

/**
 * Returns why a request exceeds a limit; undefined if it does not. Counts each of its lists. Pure.
 */
export function requestFlaw({ node, typeUrl, names }: EnvoyRequest): string | undefined {
  const longest = Math.max(typeUrl.length, node?.id.length ?? 0);
  if (longest > longestName)
    return `its type or node id has ${longest} characters, and the limit is ${longestName}`;
  if (names.kind === 'all' && names.digest !== undefined) return undefined; // they are counted
  const lists =
    names.kind === 'all' ? [names.names] : [names.add, names.remove, Object.keys(names.versions)];
  const count = Math.max(...lists.map(({ length }) => length));
  return count > mostNames
    ? `it names ${count} resources, and the limit is ${mostNames}`
    : undefined;
}
