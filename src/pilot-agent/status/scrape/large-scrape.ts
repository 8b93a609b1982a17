// Why: docs/decisions/052-a-large-scrape-waits.md
import {
  connectable,
  firstValueFrom,
  map,
  merge,
  type Observable,
  ReplaySubject,
  type SchedulerLike,
  switchMap,
  take,
  timer,
  type Unsubscribable,
} from 'rxjs';
import { ScrapeFault } from './metrics-source.ts';

/** In ms. A large scrape that takes longer is ended, because others wait. */
const longestTurn = 15_000;

/** The part of a scrape that lets it become large. */
export interface LargeScrape extends Unsubscribable {
  /** Resolves when its turn comes. Rejects with the fault `busy` at the next value of `looks$`. */
  enlarge(): Promise<void>;
  /** Emits when its turn has taken too long. */
  readonly overdue$: Observable<unknown>;
}

/**
 * Makes the part of a scrape that waits for `place$` once it is large; `unsubscribe` frees the
 * place.
 */
export function largeScrape(
  place$: Observable<void>,
  looks$: Observable<number>,
  scheduler: SchedulerLike,
): LargeScrape {
  const turn$ = connectable(place$, {
    connector: () => new ReplaySubject<void>(1),
    resetOnDisconnect: false,
  });
  const busy$ = looks$.pipe(
    take(1),
    map((): never => {
      throw new ScrapeFault('busy');
    }),
  );
  let waiting: Unsubscribable | undefined;
  return {
    async enlarge() {
      waiting ??= turn$.connect();
      await firstValueFrom(merge(turn$, busy$), { defaultValue: undefined });
    },
    overdue$: turn$.pipe(switchMap(() => timer(longestTurn, scheduler))),
    unsubscribe: () => waiting?.unsubscribe(),
  };
}
