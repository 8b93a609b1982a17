import { createHash } from 'node:crypto';
import { asyncScheduler, catchError, defer, interval, map, of, type SchedulerLike, startWith, tap, timeout } from 'rxjs';
import { fromFetch } from 'rxjs/fetch';
import { composeSources, type ConfigSource, fileSource } from '../src/index.ts';

/**
 * The document at `url`, looked at every `period` ms. While it can not be had it counts as what it
 * was: an outage is no new configuration.
 */
export function urlSource(url: string, period: number, scheduler: SchedulerLike = asyncScheduler): ConfigSource<never> {
  let last = '';
  const read = async (response: Response) => {
    if (!response.ok) throw new Error(`${url}: ${response.status}`);
    return sha256(await response.text());
  };
  return {
    changes$: interval(period, scheduler).pipe(
      map(() => ({ type: 'changed' }) as const),
      startWith({ type: 'ready' } as const),
    ),
    reading$: defer(() => fromFetch(url, { selector: read })).pipe(
      timeout({ first: 2_000, scheduler }),
      tap((hash) => (last = hash)),
      catchError(() => of(last)),
      map((hash) => ({ hash, config: undefined, parts: () => [{ source: 'url', part: url, hash }] })),
    ),
  };
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/**
 * Files and a document: a change of either is a change, and Envoy is restarted if what they say
 * together is new.
 */
export function filesAndUrl(paths: readonly string[], url: string): ConfigSource<never> {
  return composeSources(fileSource(paths), urlSource(url, 10_000));
}
