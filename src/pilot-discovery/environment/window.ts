import {
  asyncScheduler,
  connect,
  filter,
  map,
  merge,
  type MonoTypeOperatorFunction,
  type SchedulerLike,
  withLatestFrom,
} from 'rxjs';
import { type Quiet, quiesce } from '../../operators/quiesce.ts';
import { type Changes, mergeChanges } from './changes.ts';
import type { Store } from './store.ts';

/** How long changes wait for others, in ms. */
export interface WindowOptions {
  /** `PILOT_DEBOUNCE_AFTER`: the time without a further change. */
  readonly after: number;
  /** `PILOT_DEBOUNCE_MAX`: the longest wait. */
  readonly max: number;
  /** `PILOT_ENABLE_EDS_DEBOUNCE`: whether changes of endpoints wait as well, for a shorter time. */
  readonly endpoints: boolean;
  /** `PILOT_DEBOUNCE=adaptive`: the window is short after a silence, then grows up to `after`. */
  readonly adaptive: boolean;
}

/** The window if only endpoints change. In ms. */
const endpointsWait = { after: 20, max: 1_000 };
/** After this silence, the first window is this short. In ms. */
const adaptive = { silence: 1_000, first: 10 };

/**
 * Merges changes of the store that come at about the same time, and emits them with the newest
 * store. Changes of endpoints have their own window, so they do not wait for configuration. A
 * change of class `none` is dropped.
 */
export function inWindows(
  { after, max, endpoints, adaptive: isAdaptive }: WindowOptions,
  scheduler: SchedulerLike = asyncScheduler,
): MonoTypeOperatorFunction<readonly [Store, Changes]> {
  const quiet: number | Quiet = isAdaptive
    ? (silence, before) =>
        Math.min(after, silence >= adaptive.silence ? adaptive.first : before * 2)
    : after;
  const wait = endpoints ? endpointsWait : { after: 0, max: 0 };
  const lane = (length: number | Quiet, most: number) =>
    quiesce(length, most, mergeChanges, scheduler);
  return connect((steps$) => {
    const changes$ = steps$.pipe(
      map(([, changes]) => changes),
      filter((changes) => changes.class !== 'none'),
    );
    return merge(
      changes$.pipe(
        filter((changes) => changes.class !== 'endpoints'),
        lane(quiet, max),
      ),
      changes$.pipe(
        filter((changes) => changes.class === 'endpoints'),
        lane(Math.min(wait.after, after), Math.min(wait.max, max)),
      ),
    ).pipe(
      withLatestFrom(steps$),
      map(([changes, [store]]) => [store, changes] as const),
    );
  });
}
