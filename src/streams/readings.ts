import {
  asyncScheduler,
  catchError,
  concat,
  concatMap,
  connect,
  debounceTime,
  EMPTY,
  filter,
  interval,
  map,
  merge,
  NEVER,
  type Observable,
  partition,
  type SchedulerLike,
  scan,
  startWith,
  switchMap,
  take,
  takeUntil,
  tap,
  throttleTime,
  timer,
} from 'rxjs';
import type { Change, Reading } from './reading.ts';
import { coalesce } from '../operators/coalesce.ts';
import { supervise } from '../operators/supervise.ts';
import { ofType } from '../operators/tagged-union.ts';
import type { ConfigSource, SourceChange, SourcePart, SourceReading } from './config-source.ts';

/** The delays of {@link readings}, in ms. */
export interface ReadingDelays {
  /** The time from the first change to the reading that covers all of them. */
  readonly minDelay: number;
  /** The time between two readings that nothing triggers, in case an event was lost. */
  readonly reread?: number;
  /**
   * How long nothing must have changed before the source is read in advance, while the window is
   * still open. If it is left out, nothing is read in advance.
   */
  readonly quiet?: number;
  /**
   * Spreads the pauses after readings that error: returns a number from 0 up to, but not including,
   * 1.
   */
  readonly random?: () => number;
}

/** An event between a change and its reading. */
export type SourceSign<Config> =
  | SourceChange
  /** The first of several changes: the source is read when the window closes. */
  | {
      readonly type: 'window-opened';
      readonly source?: string;
      readonly path?: string;
      readonly delayMs: number;
    }
  /**
   * The reading that the window will bring if nothing else changes: it differs from the reading
   * before.
   */
  | { readonly type: 'foreseen'; readonly reading: Reading<Config | undefined> }
  /** The source could not be read, or not be watched, and is tried again after `delayMs`. */
  | SourceFailed
  /**
   * `isNew`: the reading differs from the one before. `orderedBy`: who requested it; then it counts
   * even without a difference.
   */
  | {
      readonly type: 'read';
      readonly reading: Reading<Config | undefined>;
      readonly isNew: boolean;
      readonly orderedBy: string | undefined;
    };

interface SourceFailed {
  readonly type: 'source-failed';
  readonly error: unknown;
  readonly delayMs: number;
}

type RawSign<Config> =
  | Exclude<SourceSign<Config>, { type: 'read' | 'foreseen' }>
  | {
      readonly type: 'raw';
      readonly reading: SourceReading<Config>;
      readonly orderedBy: string | undefined;
    }
  | { readonly type: 'ahead'; readonly reading: SourceReading<Config> };

/**
 * Reads a source: emits a reading at once, and then one after each change, each with its
 * differences from the one before. Also emits the changes themselves.
 *
 * The source is read `minDelay` after the first of several changes. It is read at once when it
 * becomes ready, after a change that the source itself has gathered, and for each of `orders$`,
 * whose values say who requests it. Every `reread` ms (60 s) it is read as if there had been a
 * change. Readings come one at a time, in the order in which they began: no slow one overtakes a
 * newer one. The first one waits for no change, and nothing is watched before it, so that the first
 * epoch does not wait for the watcher either. An error is reported and followed by another try, as
 * {@link supervise} does. Cold; never ends, never errors.
 *
 * With `quiet` the source is read once more in each window, at the first pause of that length: so
 * slow work can be done before the window closes. No other reading is compared with this one.
 */
export function sourceSigns<Config>(
  { changes$, reading$ }: ConfigSource<Config>,
  { minDelay, reread = 60_000, quiet = minDelay, random }: ReadingDelays,
  orders$: Observable<string> = NEVER,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<SourceSign<Config>> {
  function raw(orderedBy?: string): Observable<RawSign<Config>> {
    return reading$.pipe(
      map((reading): RawSign<Config> => ({ type: 'raw', reading, orderedBy })),
      supervise(sourceFailed, random, scheduler),
    );
  }
  const ahead$ = reading$.pipe(
    map((reading): RawSign<Config> => ({ type: 'ahead', reading })),
    catchError(() => EMPTY), // the window reads again
  );
  const later$ = changes$.pipe(
    supervise(sourceFailed, random, scheduler),
    connect((shared$): Observable<RawSign<Config>> => {
      const { opened$, occasion$, pause$ } = windows(
        shared$,
        { minDelay, reread, quiet },
        scheduler,
      );
      const all$ = merge(
        occasion$.pipe(map(() => raw())),
        orders$.pipe(map((by) => raw(by))),
        ...(quiet < minDelay ? [pause$.pipe(map(() => ahead$))] : []),
      );
      return merge(shared$, opened$, all$.pipe(concatMap((read$) => read$)));
    }),
  );
  return concat(raw(), later$).pipe(
    scan(
      ({ last }: Compared<Config>, sign): Compared<Config> => {
        if (sign.type === 'raw') return compared(last, sign);
        return { last, sign: sign.type === 'ahead' ? foreseen(last, sign.reading) : sign };
      },
      { last: undefined, sign: undefined },
    ),
    map(({ sign }) => sign),
    filter((sign) => sign !== undefined),
  );
}

/**
 * Returns the windows that changes open, the occasions to read, and the first pause in each window.
 */
function windows(
  sign$: Observable<SourceChange | SourceFailed>,
  { minDelay, reread, quiet }: Required<Omit<ReadingDelays, 'random'>>,
  scheduler: SchedulerLike,
) {
  const change$ = sign$.pipe(ofType('changed'));
  const [gathered$, changed$] = partition(change$, ({ isGathered }) => isGathered === true);
  const opened$ = changed$.pipe(
    throttleTime(minDelay, scheduler),
    map((changed) => ({ ...changed, type: 'window-opened' as const, delayMs: minDelay })),
  );
  const passed$ = gathered$.pipe(
    map((changed) => ({ ...changed, type: 'window-opened' as const, delayMs: 0 })),
  );
  const occasion$ = merge(
    sign$.pipe(ofType('ready')), // earlier changes were missed
    gathered$,
    // The regular reading opens a window too, because it must not read in the middle of a change.
    merge(changed$, interval(reread, scheduler)).pipe(coalesce(minDelay, scheduler)),
  );
  const pause$ = opened$.pipe(
    switchMap(() =>
      changed$.pipe(
        startWith(undefined),
        debounceTime(quiet, scheduler),
        take(1),
        takeUntil(timer(minDelay, scheduler)),
      ),
    ),
  );
  return { opened$: merge(opened$, passed$), occasion$, pause$ };
}

function sourceFailed(error: unknown, delayMs: number): SourceFailed {
  return { type: 'source-failed', error, delayMs };
}

/**
 * Emits each reading that differs from the one before, the first one at once. Works as
 * `sourceSigns`, but errors with the source.
 */
export function readings<Config>(
  source: ConfigSource<Config>,
  delays: ReadingDelays,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<Reading<Config | undefined>> {
  return sourceSigns(source, delays, NEVER, scheduler).pipe(
    tap((sign) => {
      if (sign.type === 'source-failed') throw sign.error;
    }),
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
  { reading, orderedBy }: Extract<RawSign<Config>, { type: 'raw' }>,
): Compared<Config> {
  const isNew = last?.hash !== reading.hash;
  return {
    last: reading,
    sign: {
      type: 'read',
      reading: withChanges(reading, isNew ? last : undefined),
      isNew,
      orderedBy,
    },
  };
}

function foreseen<Config>(
  last: SourceReading<Config> | undefined,
  reading: SourceReading<Config>,
): SourceSign<Config> | undefined {
  return last?.hash === reading.hash
    ? undefined
    : { type: 'foreseen', reading: withChanges(reading, last) };
}

/** Returns a reading with its differences from the one before. */
function withChanges<Config>(
  { hash, config, parts }: SourceReading<Config>,
  before: SourceReading<Config> | undefined,
): Reading<Config | undefined> {
  return { hash, config, changed: before === undefined ? [] : changes(before.parts(), parts()) };
}

function changes(before: readonly SourcePart[], after: readonly SourcePart[]): readonly Change[] {
  const key = ({ source, part }: SourcePart) => `${source}\0${part}`;
  const [old, now] = [before, after].map(
    (parts) => new Map(parts.map((part) => [key(part), part])),
  );
  return [...new Set([...after, ...before].map(key))].flatMap((name) => {
    const [was, is] = [old?.get(name), now?.get(name)];
    const latest = is ?? was;
    if (latest === undefined || was?.hash === is?.hash) return [];
    const { source, part } = latest;
    return [
      {
        source,
        part,
        ...(was?.mark !== undefined && { from: was.mark }),
        ...(is?.mark !== undefined && { to: is.mark }),
      },
    ];
  });
}
