import { type Observable, skipWhile } from 'rxjs';
import type { Snapshot } from '../environment/snapshots.ts';
import type { Comes } from '../push/call-events.ts';

/**
 * Emits the snapshots from the first one that a client may have. A client that has resources
 * already does not lose them to a source that is empty at the start: such a source means a failed
 * mount more often than an intention. Cold.
 */
export function servable(snapshot$: Observable<Snapshot>, comes: Comes): Observable<Snapshot> {
  return comes === 'empty-handed'
    ? snapshot$
    : snapshot$.pipe(skipWhile(({ content }) => content !== 'received'));
}
