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

/** A source of metrics beside the agent. */
export interface MetricsSource {
  readonly type: 'envoy' | 'application';
  /** Distinguishes it from others of its type. */
  readonly target: string;
  /**
   * Sends the request on subscribe, and emits the response when its head is there; unsubscribing
   * aborts the rest. Errors if there is no response.
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

/** The flaws for which Node's parser refuses a response. */
type Unparsed = 'not_http' | 'bad_length' | 'bad_header' | 'large_headers';

/** The faults for which the agent takes no more metrics, because there are too many. */
export type RefusedScrape = 'too_large' | 'too_many_rows' | 'too_many_families' | 'busy';

/** Ends the reading of a source. */
export class ScrapeFault extends Error {
  readonly reason: FaultReason;

  constructor(reason: FaultReason) {
    super(reason);
    this.reason = reason;
  }
}

/** A request to a source, which begins at once. `unsubscribe` ends it at any point. */
export interface OpenedSource extends Pick<MetricsSource, 'type' | 'target'>, Unsubscribable {
  /**
   * Starts the turn of the source: resolves to the response when it can be read, rejects with a
   * {@link ScrapeFault}.
   */
  read(): Promise<IncomingMessage>;
}

/**
 * The number of the last check of late sources, at 0.95 of the timeout. After it nothing waits any
 * longer.
 */
const lastLook = 3;

/**
 * Emits when a scrape checks late sources, numbered from 0: at four fifths of its timeout, and
 * after each further twentieth. Cold, never ends.
 */
export function looks(
  timeoutMs: number,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<number> {
  return timer(timeoutMs * 0.8, timeoutMs * 0.05, scheduler);
}

/**
 * Passes a response on. Aborts it with the fault `timeout`, which is also its own error, at the
 * first of `looks$` at which it has not come or is being read. `isRead$` emits its current value at
 * once. A response that waits for its turn is spared until the last check.
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
          answer?.destroy(fault); // so that its reader learns why
          throw fault;
        }),
      );
      return answer$.pipe(takeUntil(late$));
    },
    { connector: () => new ReplaySubject<T>(1) },
  );
}

/** The flaws by the codes of Node's parser; any other code is `not_http`. */
const unparsed: ReadonlyMap<string, Unparsed> = new Map([
  ['HPE_UNEXPECTED_CONTENT_LENGTH', 'bad_length'],
  ['HPE_INVALID_CONTENT_LENGTH', 'bad_length'],
  ['HPE_INVALID_HEADER_TOKEN', 'bad_header'],
  ['HPE_HEADER_OVERFLOW', 'large_headers'],
]);

/** Returns why there is no response. Pure. */
function noAnswer(error: unknown): FaultReason {
  const { code = '' } = error as NodeJS.ErrnoException;
  return code.startsWith('HPE_') ? (unparsed.get(code) ?? 'not_http') : 'unreachable';
}

/**
 * Sends the request to a source at once. Its response waits, unread, for its turn; see
 * {@link untilLate}.
 */
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
  const connection = answer$.connect();
  return {
    type: source.type,
    target: source.target,
    async read() {
      isRead$.next(true);
      const answer = await firstValueFrom(answer$, { defaultValue: undefined });
      if (answer === undefined) throw new ScrapeFault('unreachable');
      return answer;
    },
    unsubscribe: () => connection.unsubscribe(),
  };
}
