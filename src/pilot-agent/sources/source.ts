import { performance } from 'node:perf_hooks';
import {
  asyncScheduler,
  defer,
  filter,
  finalize,
  from,
  map,
  merge,
  mergeMap,
  NEVER,
  type Observable,
  type ObservableInput,
  retry,
  scan,
  type SchedulerLike,
  startWith,
  take,
  timer,
} from 'rxjs';
import { attentiveTimeout } from '../../operators/attentive-timer.ts';
import { backOff, jitter, type Pauses } from '../../operators/back-off.ts';
import { repeatOn } from '../../operators/repeat-on.ts';
import { sharedState } from '../../operators/shared-state.ts';
import { settle } from '../../operators/settle.ts';
import type { SourceChange } from '../../streams/config-source.ts';
import { watchFiles } from '../../streams/watch-files.ts';
import {
  type Content,
  contentHash,
  type ContributingSource,
  readingOf,
  reasonOf,
  type Use,
} from './contribution.ts';
import { type Ms, msFlaw } from './ms.ts';
import { windowed } from './pace.ts';

export interface SourceOptions<N extends number = number> {
  /** The purpose of the content; `restart` if left out. */
  readonly as?: Use;
  /** For `merge`: the place in Envoy's configuration, such as `static_resources.clusters`. */
  readonly at?: string;
  /** Reads again this many ms after the end of a reading; a function is called after each one. */
  readonly every?: Ms<N> | (() => number);
  /** Reads again at each value. */
  readonly on$?: Observable<unknown>;
  /** Reads again when the files at these paths change, and once they are watched. */
  readonly watch?: readonly string[];
  /** How long a reading may take until its first value, in ms; 10,000 if left out. */
  readonly timeout?: Ms<N>;
  /** The pauses after failed readings; 1 s, doubling to 60 s, if left out. */
  readonly pauses?: Pauses;
  /**
   * Keeps the last content while the source cannot be read (the default). With `false` there is no
   * content then.
   */
  readonly keepLastOnError?: boolean;
  /**
   * The source's own window, instead of the agent's (`--minDelay`): the time from the first change
   * of a series to the reading of all of them, in ms. 0 is at once; changes of other sources up to
   * then are read with it.
   */
  readonly window?: Ms<N>;
  /** How long the start waits for the first reading, in ms; 1,000 if left out. */
  readonly firstWithin?: Ms<N>;
  /** Returns a number from 0 up to, but not including, 1: it spreads the pauses by 20 %. */
  readonly random?: () => number;
  readonly scheduler?: SchedulerLike;
}

/** The argument of a reading function. */
export interface ReadContext {
  /**
   * The content that this source read last, also before an outage; undefined if there is none yet.
   */
  readonly last: Content | undefined;
  /** Aborts at the end of this reading: at its timeout, or when the last subscriber leaves. */
  readonly signal: AbortSignal;
}

/**
 * Reads once. Returns a promise, or an Observable whose values are each a reading. `undefined`
 * means that the content is still `last`; without a `last` the reading has failed. An Observable
 * stays subscribed until it completes.
 */
export type Read = (context: ReadContext) => ObservableInput<Content | undefined>;

/** The state of a source. */
interface SourceState {
  readonly content: Content | undefined;
  readonly hash: string;
  readonly trouble: string | undefined;
  readonly signs: readonly SourceChange[];
}

const spread = 0.2;

/**
 * Makes a source from one reading function. Reads at once, and then as the options say. Readings
 * run one at a time; a request during one causes one more after it. A failed reading is reported,
 * and repeated after a pause.
 *
 * `reading$` emits the content that was read last. It waits at most `firstWithin` for the first
 * reading: a slow or absent source does not delay others. `changes$` reports each reading and each
 * failure, and emits `changed` if the content is new. The source is read once for all subscribers,
 * and only while there is one. After a time without subscribers `read` still gets the last content.
 * Neither ends nor errors, except that `reading$` completes after its value.
 */
export function source<N extends number = number>(
  name: string,
  read: Read,
  options: SourceOptions<N> = {},
): ContributingSource {
  const {
    as: use = 'restart',
    at: field = '',
    keepLastOnError = true,
    firstWithin = 1_000,
    window,
    scheduler = asyncScheduler,
  } = options;
  const flaw = flawOf(name, options);
  if (flaw !== undefined) throw new TypeError(`source '${name}': ${flaw}`);
  const { state$: sourceState$, later$ } = sharedState(
    looks(read, options).pipe(
      scan((before, look) => afterLook(before, look, { name, keepLastOnError }), unread),
    ),
    scheduler,
  );
  const late$ = timer(firstWithin, scheduler).pipe(
    map(() => ({ ...unread, trouble: 'it has not been read yet' })),
  );
  const plainSource: ContributingSource = {
    names: [name],
    changes$: later$.pipe(
      mergeMap(({ signs }) => signs),
      startWith({ type: 'ready' } as const),
    ),
    reading$: merge(sourceState$, late$).pipe(
      take(1),
      map(({ content, hash, trouble }) =>
        readingOf([{ source: name, use, at: field, hash, content, trouble }]),
      ),
    ),
  };
  return window === undefined ? plainSource : windowed(plainSource, window, scheduler);
}

const unread: SourceState = { content: undefined, hash: '', trouble: undefined, signs: [] };

/** Returns the state of a source after one more reading, with the signs about it. Pure. */
function afterLook(
  before: SourceState,
  look: Look,
  { name, keepLastOnError }: { readonly name: string; readonly keepLastOnError: boolean },
): SourceState {
  const changed = (after: SourceState): readonly SourceChange[] =>
    before.hash === after.hash ? [] : [{ type: 'changed', source: name }];
  if (look.type === 'failed') {
    const sign: SourceChange = {
      type: 'source-unreadable',
      source: name,
      reason: look.reason,
      delayMs: look.delayMs,
    };
    const kept = keepLastOnError ? before : unread;
    return { ...kept, trouble: look.reason, signs: [sign, ...changed(kept)] };
  }
  const { content } = look;
  const hash = content === before.content ? before.hash : contentHash(content);
  const after: SourceState = { ...before, content, hash };
  const sign: SourceChange = { type: 'source-read', source: name, hash };
  return { ...after, trouble: undefined, signs: [sign, ...changed(after)] };
}

/** The result of one reading. */
type Look =
  | { readonly type: 'read'; readonly content: Content }
  | { readonly type: 'failed'; readonly reason: string; readonly delayMs: number };

/** Why a reading fails in a test with virtual time: there it would wait forever. */
export const neverResolves =
  'a promise never resolves in virtual time: return an Observable, such as that of the `read` which drawAgent passes to `source`';

/** Virtual time begins in 1970, long before the start of any process. */
function isVirtual(scheduler: SchedulerLike): boolean {
  return scheduler.now() < performance.timeOrigin / 2;
}

const nothingYet =
  'it says that nothing has changed, but nothing was read before: return the content if `last` is undefined';

/**
 * Reads again and again. Cold; never ends, never errors. The last content outlives a subscription,
 * because a reading function that knows its server's version may report that nothing has changed.
 */
function looks(read: Read, options: SourceOptions): Observable<Look> {
  let last: Content | undefined;
  function looked(content: Content | undefined): Content {
    last = content ?? last;
    if (last === undefined) throw new Error(nothingYet);
    return last;
  }
  const {
    every,
    on$ = NEVER,
    watch = [],
    timeout = 10_000,
    scheduler = asyncScheduler,
    random = Math.random,
  } = options;
  const { pauses = { first: 1_000, longest: 60_000 } } = options;
  const watched$ =
    watch.length === 0
      ? NEVER
      : watchFiles(watch, scheduler).pipe(filter(({ type }) => type !== 'watch-failed'));
  const occasion$ = merge(on$, watched$).pipe(
    retry({ delay: () => timer(pauses.first, scheduler) }),
  );
  const period = typeof every === 'function' ? every : () => every;
  return defer(() => {
    let failures = 0; // in a row
    return defer(() => {
      const end = new AbortController();
      const given$ = read({ last, signal: end.signal });
      if (given$ instanceof Promise && isVirtual(scheduler)) throw new Error(neverResolves);
      return from(given$).pipe(
        attentiveTimeout(timeout, scheduler),
        finalize(() => end.abort()),
      );
    }).pipe(
      map(looked),
      settle(),
      map((result): Look => {
        failures = result.ok ? 0 : failures + 1;
        if (result.ok) return { type: 'read', content: result.value };
        const delayMs = Math.round(jitter(backOff(pauses, failures - 1), spread, random()));
        return { type: 'failed', reason: reasonOf(result.error), delayMs };
      }),
      repeatOn(occasion$, (look) => (look?.type === 'failed' ? look.delayMs : period()), scheduler),
    );
  });
}

const uses: Readonly<Record<Use, true>> = {
  restart: true,
  envoy: true,
  merge: true,
  runtime: true,
  secret: true,
};

/**
 * Returns what is wrong with the options of a source, for authors who do not use TypeScript. Pure.
 */
function flawOf(
  name: string,
  { as: use = 'restart', at: field, every, timeout, window, firstWithin }: SourceOptions,
): string | undefined {
  if (name === '') return 'it needs a name';
  if (!Object.hasOwn(uses, use))
    return `as is '${use}', and has to be one of ${Object.keys(uses).join(', ')}`;
  if (field !== undefined && field !== '' && use !== 'merge')
    return `at is for 'merge' alone, and as is '${use}'`;
  const times = Object.entries({ every, timeout, window, firstWithin }).filter(
    ([, ms]) => ms !== undefined && typeof ms !== 'function',
  );
  return times.flatMap(([option, ms]) =>
    msFlaw(ms) === undefined ? [] : [`${option} ${msFlaw(ms)}`],
  )[0];
}
