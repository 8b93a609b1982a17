import {
  asyncScheduler,
  catchError,
  connect,
  defer,
  distinctUntilChanged,
  filter,
  identity,
  ignoreElements,
  map,
  merge,
  type MonoTypeOperatorFunction,
  type Observable,
  of,
  type SchedulerLike,
  startWith,
  switchMap,
  takeLast,
  takeUntil,
  tap,
  timer,
} from 'rxjs';
import sliceAnsi from 'slice-ansi';
import stringWidth from 'string-width';
import { printable } from '../../shared/log/printable.ts';
import { canRewrite } from '../../shared/log/paint.ts';

/** Why something is not ready yet, or undefined if it is. */
type Answer = string | undefined;

/** A stream such as stderr. */
export interface WaitingTarget {
  readonly isTTY?: boolean;
  /** The current width of a terminal. */
  readonly columns?: number;
  write(text: string): unknown;
}

export interface WaitingFor {
  readonly what: string;
  /** In ms. */
  readonly limit: number;
  /** Shows nothing. */
  readonly quiet?: boolean | undefined;
}

/** Goes to the start of the line of a terminal, and clears it. */
const clear = '\r\x1b[K';
/** The interval between two updates of a terminal, and the delay of the first one. In ms. */
const second = 1_000;
const usualWidth = 80;

/**
 * Passes answers on, and shows meanwhile what the program waits for. On a terminal this is one line
 * with the seconds and the newest reason, which is removed at the end. Elsewhere it is a line for
 * each reason that differs from the one before. The end is shown only if the beginning was. If the
 * first answer is ready, or there is only one question, nothing is shown.
 */
export function showWaiting(
  waiting: WaitingFor,
  target: WaitingTarget,
  env: NodeJS.ProcessEnv = process.env,
  scheduler: SchedulerLike = asyncScheduler,
): MonoTypeOperatorFunction<Answer> {
  if (waiting.quiet === true || waiting.limit === 0) return identity;
  return connect((answers$) =>
    merge(
      waitingTexts(
        answers$,
        waiting,
        canRewrite(target, env) ? () => target.columns ?? usualWidth : undefined,
        scheduler,
      ).pipe(
        tap((text) => target.write(text)),
        ignoreElements(),
      ),
      answers$,
    ),
  );
}

/**
 * Emits the text to write, piece by piece. `width` is that of a terminal. Completes with the
 * answers.
 */
function waitingTexts(
  answers$: Observable<Answer>,
  { what, limit }: WaitingFor,
  width: (() => number) | undefined,
  scheduler: SchedulerLike,
): Observable<string> {
  return defer(() => {
    const begin = scheduler.now();
    const passed = () => scheduler.now() - begin;
    const over$ = answers$.pipe(
      takeLast(1),
      catchError(() => of('')),
      map((last) => (shown: boolean) => {
        if (!shown) return '';
        const ending =
          last === undefined
            ? `pilot-agent: ${what} is ready after ${(passed() / second).toFixed(1)} s\n`
            : '';
        return width === undefined ? ending : clear + ending;
      }),
    );
    const reasons$ = answers$.pipe(
      filter((answer) => answer !== undefined),
      map(oneLine),
    );
    const lines$ =
      width === undefined
        ? reasons$.pipe(
            distinctUntilChanged(),
            map((reason) => `pilot-agent: waiting for ${what}: ${reason}\n`),
          )
        : reasons$.pipe(
            startWith(''),
            switchMap((reason) =>
              timer(reason === '' ? second : 0, second, scheduler).pipe(map(() => reason)),
            ),
            map((reason) => {
              const head = `waiting ${Math.floor(passed() / second)} of ${limit / second} s for `;
              return (
                clear +
                cut(`${head}${what}${reason === '' ? '' : `: ${reason}`}`, width() - 1, head.length)
              );
            }),
          );
    const texts$ = lines$.pipe(
      map((text) => () => text),
      takeUntil(over$),
    );
    return merge(texts$, over$).pipe(
      map((text, index) => text(index > 0)),
      filter((text) => text !== ''),
    );
  });
}

function oneLine(text: string): string {
  return printable(text.replace(/\s+/g, ' ').trim());
}

/**
 * Shortens a text to `width` columns. It removes the middle of the part after the first `kept`
 * columns: a reason begins with its subject, and ends with the cause. Pure.
 */
function cut(text: string, width: number, kept: number): string {
  const whole = stringWidth(text);
  if (whole <= width) return text;
  const end = Math.floor((width - kept - 1) / 2);
  if (end < 1) return sliceAnsi(text, 0, Math.max(0, width));
  return `${sliceAnsi(text, 0, width - 1 - end)}…${sliceAnsi(text, whole - end)}`;
}
