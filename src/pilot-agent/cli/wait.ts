import {
  asyncScheduler,
  defer,
  lastValueFrom,
  map,
  type Observable,
  of,
  type SchedulerLike,
  switchMap,
  timeout,
} from 'rxjs';
import { httpAnswer } from '../../shared/http/http-answer.ts';
import { longestTimer } from '../../operators/longest-timer.ts';
import { pollUntil } from '../../operators/poll-until.ts';
import { exitCodes, Fatal } from '../../shared/program/exit.ts';
import { nobodyHere, readyUrl, theAgent$ } from './the-agent.ts';
import { showWaiting } from './waiting.ts';

/**
 * Returns a flag's value times `unit`, at most the limit of a Node timer (24.8 days in ms). Throws
 * a {@link Fatal} if it is below `least`, or not a number.
 */
export function wholeNumber(flag: string, value: string, least: number, unit: number): number {
  if (/^\d+$/.test(value) && Number(value) >= least)
    return Math.min(Number(value) * unit, longestTimer);
  throw new Fatal(`--${flag}: '${value}' is not a whole number from ${least} on`, exitCodes.usage);
}

/**
 * Asks once, and emits why the URL does not answer with 200; undefined if it does. Never errors.
 */
export function unreadyAt(url: string): Observable<string | undefined> {
  return httpAnswer(url).pipe(
    map((answer) => {
      if (!answer.ok) {
        const { message, code } = answer.error as NodeJS.ErrnoException;
        return message === '' ? (code ?? 'no connection') : message; // if several addresses fail, each with its own error, there is only the code
      }
      const { status, body } = answer.value;
      return status === 200 ? undefined : `it answers ${status}${body === '' ? '' : `: ${body}`}`;
    }),
  );
}

/** All in ms. */
export interface ReadyLimits {
  /** The time limit of all questions together. 0: one question. */
  readonly limit: number;
  /** The time limit of one question; less if less time is left. */
  readonly timeoutMs: number;
  /** The delay from an answer to the next question. */
  readonly period: number;
}

/**
 * Repeats `look$` until something is ready; it emits the reason why it is not, or undefined. Emits
 * each answer, finally undefined or the last reason, and completes. If no further question fits
 * into `limit`, it completes early. It asks at least once. Cold; errors only if `look$` does.
 */
export function awaitReady(
  look$: Observable<string | undefined>,
  { limit, timeoutMs, period }: ReadyLimits,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<string | undefined> {
  return defer(() => {
    const end = scheduler.now() + limit;
    return defer(() => {
      const first = limit === 0 ? timeoutMs : Math.min(timeoutMs, end - scheduler.now());
      return look$.pipe(
        timeout({ first, with: () => of(`no answer within ${first} ms`), scheduler }),
      );
    }).pipe(
      pollUntil(
        (reason) => reason === undefined,
        { every: period, limit: limit - period },
        scheduler,
      ),
    );
  });
}

/** The flags of `wait`, as they were given or by default. */
export interface WaitCommandOptions {
  readonly timeoutSeconds: string;
  readonly requestTimeoutMillis: string;
  readonly periodMillis: string;
  /** If left out: the URL of the agent that runs here, else that of Envoy's default port. */
  readonly url?: string;
  readonly quiet?: boolean;
}

const usualUrl = 'http://localhost:15021/healthz/ready';

/** As {@link unreadyAt}, for the agent that runs here at the time of the subscription. */
const theProxy$ = theAgent$((agent) => `--url ${readyUrl(agent)}`).pipe(
  switchMap((agent) => {
    const url = agent === undefined ? usualUrl : readyUrl(agent);
    const who = agent === undefined ? `${nobodyHere}, and ${url}` : url;
    return unreadyAt(url).pipe(map((reason) => reason && `${who}: ${reason}`));
  }),
);

/**
 * `pilot-agent wait`: resolves when the URL, or the agent that runs here, answers with 200, and
 * shows meanwhile what it waits for. Rejects with a {@link Fatal} that names the last failure when
 * the time is up, and at once if an option is invalid, or if several agents run.
 */
export async function wait({
  timeoutSeconds,
  requestTimeoutMillis,
  periodMillis,
  url,
  quiet,
}: WaitCommandOptions): Promise<void> {
  const limit = wholeNumber('timeoutSeconds', timeoutSeconds, 0, 1_000);
  const timeoutMs = wholeNumber('requestTimeoutMillis', requestTimeoutMillis, 1, 1);
  const period = wholeNumber('periodMillis', periodMillis, 0, 1);
  if (url !== undefined && (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)))
    throw new Fatal(`--url: '${url}' is not an http or https URL`, exitCodes.usage);
  const look$ = url === undefined ? theProxy$ : unreadyAt(url);
  const what = url ?? 'the proxy';
  const answers$ = awaitReady(look$, { limit, timeoutMs, period }).pipe(
    showWaiting({ what, limit, quiet }, process.stderr),
  );
  const reason = await lastValueFrom(answers$, { defaultValue: 'no request was sent' });
  if (reason !== undefined)
    throw new Fatal(
      `${what} is not ready within ${limit / 1_000} s: ${reason}`,
      exitCodes.unavailable,
    );
}
