import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import {
  asyncScheduler,
  BehaviorSubject,
  catchError,
  connect,
  connectable,
  filter,
  firstValueFrom,
  map,
  mergeMap,
  type MonoTypeOperatorFunction,
  type Observable,
  of,
  ReplaySubject,
  type SchedulerLike,
  startWith,
  takeUntil,
  throwError,
  timer,
  type Unsubscribable,
  withLatestFrom,
} from 'rxjs';

/** Somebody beside the agent who has metrics. */
export interface MetricsSource {
  readonly type: 'envoy' | 'application';
  /** What tells it from others of its type. */
  readonly target: string;
  /**
   * Asks, on subscribe, and emits the answer when its head is there; unsubscribing abandons the
   * rest of it. Errors if there is none.
   */
  open(headers: OutgoingHttpHeaders): Observable<IncomingMessage>;
}

/** Why a source gives no metrics, or no more of them: a value of the label `reason`. */
export type FaultReason =
  | 'unreachable'
  | Unparsed
  | 'timeout'
  | 'status'
  | 'format'
  | 'encoding'
  | 'cut_off'
  | RefusedScrape;

/** What the parser of Node does not take of an answer. */
type Unparsed = 'not_http' | 'bad_length' | 'bad_header' | 'large_headers';

/** The same, where the agent takes no more of them, for there are too many. */
export type RefusedScrape = 'too_large' | 'too_many_rows' | 'too_many_families' | 'busy';

/** Ends the reading of a source. */
export class ScrapeFault extends Error {
  readonly reason: FaultReason;

  constructor(reason: FaultReason) {
    super(reason);
    this.reason = reason;
  }
}

/**
 * A source that is being asked, from when it is made until `unsubscribe`, which ends it wherever it
 * is.
 */
export interface OpenedSource extends Pick<MetricsSource, 'type' | 'target'>, Unsubscribable {
  /**
   * Its turn has come: resolves to the answer when it is there to be read, rejects with a
   * {@link ScrapeFault}.
   */
  read(): Promise<IncomingMessage>;
}

/**
 * The look at what is late from which on nothing is waited for any more: at 0.95 of the time-out.
 */
const lastLook = 3;

/**
 * The looks of a scrape at what is late, numbered from 0: at four fifths of its time-out, and after
 * each further twentieth. Cold, never ends.
 */
export function looks(
  timeoutMs: number,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<number> {
  return timer(timeoutMs * 0.8, timeoutMs * 0.05, scheduler);
}

/**
 * Passes an answer on, and cuts it off with the fault `timeout`, which is also its own error, at
 * the first of `looks$` at which it has not come or is being read, of which `isRead$` emits at once
 * what holds. One that waits for its turn is spared until the last look.
 */
export function untilLate<T extends { destroy(fault: Error): unknown }>(
  isRead$: Observable<boolean>,
  looks$: Observable<number>,
): MonoTypeOperatorFunction<T> {
  return connect(
    (answer$) => {
      const late$ = looks$.pipe(
        mergeMap((look) =>
          of(look).pipe(withLatestFrom(answer$.pipe(startWith(undefined)), isRead$)),
        ),
        filter(([look, answer, isRead]) => answer === undefined || isRead || look >= lastLook),
        map(([, answer]): never => {
          const fault = new ScrapeFault('timeout');
          answer?.destroy(fault); // whoever reads it learns why
          throw fault;
        }),
      );
      return answer$.pipe(takeUntil(late$));
    },
    { connector: () => new ReplaySubject<T>(1) },
  );
}

/** By the codes of Node's parser; any other code of it is `not_http`. */
const unparsed: ReadonlyMap<string, Unparsed> = new Map([
  ['HPE_UNEXPECTED_CONTENT_LENGTH', 'bad_length'],
  ['HPE_INVALID_CONTENT_LENGTH', 'bad_length'],
  ['HPE_INVALID_HEADER_TOKEN', 'bad_header'],
  ['HPE_HEADER_OVERFLOW', 'large_headers'],
]);

/** Why there is no answer. Pure. */
function noAnswer(error: unknown): FaultReason {
  const { code = '' } = error as NodeJS.ErrnoException;
  return code.startsWith('HPE_') ? (unparsed.get(code) ?? 'not_http') : 'unreachable';
}

/** Asks a source at once. What it says waits, unread, for its turn; {@link untilLate}. */
export function openSource(
  source: MetricsSource,
  headers: OutgoingHttpHeaders,
  looks$: Observable<number>,
): OpenedSource {
  const isRead$ = new BehaviorSubject(false);
  const answer$ = connectable(
    source.open(headers).pipe(
      catchError((error: unknown) => throwError(() => new ScrapeFault(noAnswer(error)))),
      untilLate(isRead$, looks$),
    ),
    { connector: () => new ReplaySubject<IncomingMessage>(1), resetOnDisconnect: false },
  );
  const asked = answer$.connect();
  return {
    type: source.type,
    target: source.target,
    async read() {
      isRead$.next(true);
      const answer = await firstValueFrom(answer$, { defaultValue: undefined });
      if (answer === undefined) throw new ScrapeFault('unreachable');
      return answer;
    },
    unsubscribe: () => asked.unsubscribe(),
  };
}
