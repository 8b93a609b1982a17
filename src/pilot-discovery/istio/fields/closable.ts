// Why: docs/decisions/073-a-refused-policy-closes.md
import type { Place, ReadMember } from './members.ts';

/**
 * Reads a setting that restricts access. If it has an error or is not served, that is a warning and
 * the result is `closed`. The rest of the resource is served.
 *
 * @param consequence what follows: `connections to this port are refused`
 * @param closing whether warnings close it too; with `errors` they are only reported
 */
export function orClosed<T>(
  read: ReadMember<T>,
  consequence: string,
  closing: 'errors' | 'warnings too' = 'warnings too',
): ReadMember<T | 'closed'> {
  return (value, place) => {
    const reasons: string[] = [];
    const tell: Place['tell'] = (path, reason, severity) => {
      if (severity === 'warning' && closing === 'errors') {
        place.tell(path, reason, severity);
        return;
      }
      reasons.push(reason);
      place.tell(path, `${reason}; ${consequence}`, 'warning');
    };
    const result = read(value, { ...place, tell });
    return reasons.length > 0 ? 'closed' : result;
  };
}

/**
 * Reads a setting that restricts access. If it has an error, the resource is refused, or the result
 * is `closed`: `ifWrong` of the place decides.
 */
export function closable<T>(read: ReadMember<T>): ReadMember<T | 'closed'> {
  const closed = orClosed(read, 'it is closed');
  return (value, place) => (place.ifWrong === 'close' ? closed(value, place) : read(value, place));
}
