import {
  connect,
  distinctUntilChanged,
  EMPTY,
  exhaustMap,
  filter,
  map,
  merge,
  type Observable,
  scan,
  type SchedulerLike,
  switchMap,
  take,
  takeUntil,
  timer,
} from 'rxjs';
import type { ProxyEffect, ProxyEvent } from './proxy-stream.ts';
import type { Unsent } from './unsent.ts';

/** How long a proxy that connects again may take to request all its types, in ms. */
const introduction = 1_000;

/** How long changed listeners and routes wait for clusters and their endpoints, in ms. */
const warming = 5_000;

/** An effect after which a type waits, or no longer does. */
type WaitEffect = Extract<ProxyEffect, { readonly type: 'unsent' | 'answer' }>;

/** By the URL of the type that waits. */
type Waits = ReadonlyMap<string, Unsent>;

/**
 * Emits when the time to wait for a proxy is over: `introduced` once, 1 s after its first request;
 * `warmed` 5 s after listeners or routes began to wait for clusters or endpoints, unless none waits
 * by then. Changes meanwhile do not extend that time. If something still waits, the time begins
 * again when it waits for the other of the two. Completes after both sources.
 */
export function waitLimits(
  request$: Observable<unknown>,
  effect$: Observable<WaitEffect>,
  scheduler?: SchedulerLike,
): Observable<ProxyEvent> {
  const introduced$ = request$.pipe(
    take(1),
    switchMap(() => timer(introduction, scheduler)),
    map((): ProxyEvent => ({ type: 'introduced' })),
  );
  const warmed$ = effect$.pipe(
    scan(waitsAfter, new Map()),
    map((waits) => [...waits.values()][0]),
    distinctUntilChanged(),
    connect((reason$) => {
      const over$ = reason$.pipe(filter((reason) => reason === undefined));
      return reason$.pipe(
        exhaustMap((reason) =>
          reason === undefined ? EMPTY : timer(warming, scheduler).pipe(takeUntil(over$)),
        ),
      );
    }),
    map((): ProxyEvent => ({ type: 'warmed' })),
  );
  return merge(introduced$, warmed$);
}

function waitsAfter(waits: Waits, effect: WaitEffect): Waits {
  const typeUrl = effect.type === 'unsent' ? effect.typeUrl : effect.answer.typeUrl;
  const waitsFor = effect.type === 'unsent' ? effect.waitsFor : undefined;
  const isWait = waitsFor === 'clusters' || waitsFor === 'endpoints';
  if (!isWait && !waits.has(typeUrl)) return waits;
  const after = new Map(waits);
  after.delete(typeUrl);
  return isWait ? after.set(typeUrl, waitsFor) : after;
}
