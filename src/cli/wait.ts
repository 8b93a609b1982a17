import { firstValueFrom, map, type Observable } from 'rxjs';
import { httpAnswer } from '../node/http-answer.ts';
import { awaitReady } from './await-ready.ts';
import { exitCodes } from './exit-codes.ts';
import { Fatal } from './fatal.ts';

/** The flags of `wait`, as they were given or by default. */
export interface WaitOptions {
  readonly timeoutSeconds: string;
  readonly requestTimeoutMillis: string;
  readonly periodMillis: string;
  readonly url: string;
}

/**
 * `pilot-agent wait`: resolves when the URL answers with 200. Rejects with a {@link Fatal} that names the last failure when the time is up, and at
 * once for options that are none.
 */
export async function wait({ timeoutSeconds, requestTimeoutMillis, periodMillis, url }: WaitOptions): Promise<void> {
  const limit = whole('timeoutSeconds', timeoutSeconds, 0, 1_000);
  const patience = whole('requestTimeoutMillis', requestTimeoutMillis, 1, 1);
  const period = whole('periodMillis', periodMillis, 0, 1);
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new Fatal(`--url: '${url}' is not an http or https URL`, exitCodes.usage);
  const reason = await firstValueFrom(awaitReady(unready(url), { limit, patience, period }), { defaultValue: 'nobody was asked' });
  if (reason !== undefined) throw new Fatal(`${url} is not ready within ${limit / 1_000} s: ${reason}`, exitCodes.unavailable);
}

/** Why the URL does not answer with 200; undefined if it does. */
function unready(url: string): Observable<string | undefined> {
  return httpAnswer(url).pipe(
    map((answer) => {
      if (!answer.ok) {
        const { message, code } = answer.error as NodeJS.ErrnoException;
        return message === '' ? (code ?? 'no connection') : message; // of several addresses, each with its own error, only the code is told
      }
      const { status, body } = answer.value;
      return status === 200 ? undefined : `it answers ${status}${body === '' ? '' : `: ${body}`}`;
    }),
  );
}

/** A flag's value in ms, at most what a timer of Node can count (24.8 days). */
function whole(flag: string, value: string, least: number, unit: number): number {
  if (/^\d+$/.test(value) && Number(value) >= least) return Math.min(Number(value) * unit, 2 ** 31 - 1);
  throw new Fatal(`--${flag}: '${value}' is not a whole number from ${least} on`, exitCodes.usage);
}
