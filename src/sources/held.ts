import { asyncScheduler, concatMap, filter, map, merge, mergeMap, type Observable, of, scan, type SchedulerLike, startWith, take } from 'rxjs'; // prettier-ignore
import { sharedState } from '../operators/shared-state.ts';
import type { SourceChange } from '../streams/config-source.ts';
import type { ContributedReading, ContributingSource } from './contribution.ts';

/** What a source tells, and each of its readings as it is read. */
export type Told = SourceChange | { readonly type: 'reading'; readonly reading: ContributedReading };

/**
 * Emits a reading of the source at once and after each change, and beside them what the source
 * tells, but that something has changed. As cold as the source; never ends.
 */
export function follow({ changes$, reading$ }: ContributingSource): Observable<Told> {
  const read$ = reading$.pipe(map((reading): Told => ({ type: 'reading', reading })));
  const later$ = changes$.pipe(
    concatMap((sign): Observable<Told> => (sign.type === 'ready' || sign.type === 'changed' ? read$ : of(sign))),
  );
  return merge(read$, later$);
}

interface Held {
  readonly reading: ContributedReading | undefined;
  readonly signs: readonly SourceChange[];
}

/**
 * A source whose reading is the last one that `told$` has emitted: it is followed once, however
 * many listen, and only while somebody does. Until there is one a reading waits. A reading with
 * another hash than the one before is a change.
 */
export function held(told$: Observable<Told>, scheduler: SchedulerLike = asyncScheduler): ContributingSource {
  function next({ reading: before }: Held, told: Told): Held {
    if (told.type !== 'reading') return { reading: before, signs: [told] };
    const { hash, config = [] } = told.reading;
    const changed = config.filter((one, place) => one.hash !== before?.config?.[place]?.hash);
    const [first] = changed.filter(({ use }) => use !== 'secret');
    const isPushed = changed.length > 0 && first === undefined;
    const { source } = first ?? changed[0] ?? {};
    const sign: SourceChange = { type: 'changed', ...(source !== undefined && { source }), ...(isPushed && { isPushed }) };
    return { reading: told.reading, signs: before?.hash === hash ? [] : [sign] };
  }
  const { state$, later$ } = sharedState(told$.pipe(scan(next, { reading: undefined, signs: [] })), scheduler);
  return {
    changes$: later$.pipe(
      mergeMap(({ signs }) => signs),
      startWith({ type: 'ready' } as const),
    ),
    reading$: state$.pipe(
      map(({ reading }) => reading),
      filter((reading) => reading !== undefined),
      take(1),
    ),
  };
}
