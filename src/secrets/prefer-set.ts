import { combineLatest, distinctUntilChanged, filter, map, type Observable, scan } from 'rxjs';
import type { SetReading } from './secret.ts';

/**
 * The first of two sets as soon as it can be served, and from then on; until then the second, if that can be. Emits when both have spoken. As cold as
 * they are.
 */
export function preferSet(first$: Observable<SetReading>, second$: Observable<SetReading>): Observable<SetReading> {
  return combineLatest([first$, second$]).pipe(
    scan(
      ({ isFirst }, [first, second]) => {
        const stays = isFirst || first.type === 'set';
        return { isFirst: stays, reading: !stays && second.type === 'set' ? second : first };
      },
      { isFirst: false, reading: undefined as SetReading | undefined },
    ),
    map(({ reading }) => reading),
    filter((reading) => reading !== undefined),
    distinctUntilChanged(),
  );
}
