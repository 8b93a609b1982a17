import {
  asyncScheduler,
  catchError,
  concat,
  concatMap,
  connect,
  filter,
  interval,
  map,
  merge,
  NEVER,
  type Observable,
  of,
  type SchedulerLike,
  scan,
  switchMap,
  throttleTime,
  timer,
} from 'rxjs';
import type { Change, Reading } from '../agent/ports.ts';
import { backOff } from '../operators/back-off.ts';
import { coalesce } from '../operators/coalesce.ts';
import { ofType } from '../operators/tagged-union.ts';
import type { ConfigSource, SourceChange, SourcePart, SourceReading } from './config-source.ts';

/** In ms. */
export interface ReadingDelays {
  /** From the first change to the reading that takes in all of them. */
  readonly minDelay: number;
  /** Between two readings that nobody asked for, the net below a lost event. */
  readonly reread?: number;
}

/** After a reading that errors. In ms. */
const pauses = { first: 1_000, longest: 30_000 };

/** What happens on the way from a change to a reading. */
export type SourceSign<Config> =
  | SourceChange
  /** The first change of a row: the source is read when the window closes. */
  | { readonly type: 'window-opened'; readonly path?: string; readonly delayMs: number }
  /** The source could not be read, and is read again so much later. */
  | { readonly type: 'read-failed'; readonly reason: string; readonly delayMs: number }
  /** `isNew`: it differs from the reading before. `isOrdered`: it was ordered, and counts even if it does not. */
  | { readonly type: 'read'; readonly reading: Reading<Config | undefined>; readonly isNew: boolean; readonly isOrdered: boolean };

type RawSign<Config> =
  | Exclude<SourceSign<Config>, { type: 'read' }>
  | { readonly type: 'raw'; readonly reading: SourceReading<Config>; readonly isOrdered: boolean };

/**
 * Reads a source: emits a reading at once, and then one after each change, each with what differs from the one before; and beside them the changes themselves.
 *
 * The source is read `minDelay` after the first of a row of changes, at once when it becomes ready and for each of `orders$`, and every `reread` ms (60 s)
 * as if there had been a change. Readings come one at a time, in the order in which they began: no slow one overtakes a newer one. The first one waits for no change, and nothing is watched before it, so that the first epoch does not wait for
 * the watcher either. A reading that errors is told, and repeated after 1 s, doubling up to 30 s. Cold, never ends; errors only if `changes$` does.
 */
export function sourceSigns<Config>(
  { changes$, reading$ }: ConfigSource<Config>,
  { minDelay, reread = 60_000 }: ReadingDelays,
  orders$: Observable<unknown> = NEVER,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<SourceSign<Config>> {
  function raw(isOrdered: boolean, failures = 0): Observable<RawSign<Config>> {
    return reading$.pipe(
      map((reading): RawSign<Config> => ({ type: 'raw', reading, isOrdered })),
      catchError((error: unknown) => {
        const delayMs = backOff(pauses, failures);
        const again$ = timer(delayMs, scheduler).pipe(switchMap(() => raw(isOrdered, failures + 1)));
        return concat(of<RawSign<Config>>({ type: 'read-failed', reason: String(error), delayMs }), again$);
      }),
    );
  }
  const later$ = changes$.pipe(
    connect((shared$): Observable<RawSign<Config>> => {
      const changed$ = shared$.pipe(ofType('changed'));
      const opened$ = changed$.pipe(
        throttleTime(minDelay, scheduler),
        map(({ path }) => ({ type: 'window-opened' as const, delayMs: minDelay, ...(path !== undefined && { path }) })),
      );
      const occasions$ = merge(
        shared$.pipe(ofType('ready')), // what changed before it went unheard
        // The net opens a window too: it is not to read in the middle of a change.
        merge(changed$, interval(reread, scheduler)).pipe(coalesce(minDelay, scheduler)),
      );
      const all$ = merge(occasions$.pipe(map(() => false)), orders$.pipe(map(() => true)));
      return merge(shared$, opened$, all$.pipe(concatMap((isOrdered) => raw(isOrdered))));
    }),
  );
  return concat(raw(false), later$).pipe(
    scan(({ last }: Compared<Config>, sign): Compared<Config> => (sign.type === 'raw' ? compared(last, sign) : { last, sign }), {
      last: undefined,
      sign: undefined,
    }),
    map(({ sign }) => sign),
    filter((sign) => sign !== undefined),
  );
}

/** Emits each reading that differs from the one before, the first one at once. As {@link sourceSigns}. */
export function readings<Config>(
  source: ConfigSource<Config>,
  delays: ReadingDelays,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<Reading<Config | undefined>> {
  return sourceSigns(source, delays, NEVER, scheduler).pipe(
    ofType('read'),
    filter(({ isNew }) => isNew),
    map(({ reading }) => reading),
  );
}

interface Compared<Config> {
  readonly last: SourceReading<Config> | undefined;
  readonly sign: SourceSign<Config> | undefined;
}

function compared<Config>(
  last: SourceReading<Config> | undefined,
  { reading, isOrdered }: Extract<RawSign<Config>, { type: 'raw' }>,
): Compared<Config> {
  const isNew = last?.hash !== reading.hash;
  return { last: reading, sign: { type: 'read', reading: withChanges(reading, isNew ? last : undefined), isNew, isOrdered } };
}

/** A reading with what differs from the one before. */
function withChanges<Config>(
  { hash, config, parts }: SourceReading<Config>,
  before: SourceReading<Config> | undefined,
): Reading<Config | undefined> {
  return { hash, config, changed: before === undefined ? [] : changes(before.parts(), parts()) };
}

function changes(before: readonly SourcePart[], after: readonly SourcePart[]): readonly Change[] {
  const key = ({ source, part }: Change) => `${source}\0${part}`;
  const hashes = new Map(before.map((part) => [key(part), part.hash]));
  const fresh = new Set(after.map(key));
  return [...after.filter((part) => hashes.get(key(part)) !== part.hash), ...before.filter((part) => !fresh.has(key(part)))].map(
    ({ source, part }) => ({ source, part }),
  );
}
