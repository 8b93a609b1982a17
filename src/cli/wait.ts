import { firstValueFrom } from 'rxjs';
import { awaitReady } from './await-ready.ts';
import { exitCodes } from './exit-codes.ts';
import { Fatal } from './fatal.ts';
import { unreadyAt } from './unready-at.ts';
import { wholeNumber } from './whole-number.ts';

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
  const limit = wholeNumber('timeoutSeconds', timeoutSeconds, 0, 1_000);
  const patience = wholeNumber('requestTimeoutMillis', requestTimeoutMillis, 1, 1);
  const period = wholeNumber('periodMillis', periodMillis, 0, 1);
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new Fatal(`--url: '${url}' is not an http or https URL`, exitCodes.usage);
  const reason = await firstValueFrom(awaitReady(unreadyAt(url), { limit, patience, period }), { defaultValue: 'nobody was asked' });
  if (reason !== undefined) throw new Fatal(`${url} is not ready within ${limit / 1_000} s: ${reason}`, exitCodes.unavailable);
}
