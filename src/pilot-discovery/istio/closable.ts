// Why: docs/decisions/073-a-refused-policy-closes.md
import type { Place, ReadMember } from './members.ts';

/**
 * Reads what restricts access. If something in it is wrong or not served, a warning says so and
 * the result is `closed`: the rest of the resource is served.
 *
 * @param consequence what follows: `connections to this port are refused`
 */
export function orClosed<T>(read: ReadMember<T>, consequence: string): ReadMember<T | 'closed'> {
  return (value, place) => {
    const reasons: string[] = [];
    const tell: Place['tell'] = (path, reason) => {
      reasons.push(reason);
      place.tell(path, `${reason}; ${consequence}`, 'warning');
    };
    const made = read(value, { ...place, tell });
    return reasons.length > 0 ? 'closed' : made;
  };
}

/**
 * Reads what restricts access. If something in it is wrong, the resource is refused; or, as
 * `ifWrong` of the place says, the result is `closed`.
 */
export function closable<T>(read: ReadMember<T>): ReadMember<T | 'closed'> {
  const closed = orClosed(read, 'it is closed');
  return (value, place) => (place.ifWrong === 'close' ? closed(value, place) : read(value, place));
}
