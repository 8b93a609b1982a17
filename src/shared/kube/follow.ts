import {
  asyncScheduler,
  defer,
  map,
  mergeMap,
  type Observable,
  of,
  type SchedulerLike,
  switchMap,
  timer,
} from 'rxjs';
import { reduceWithEffects } from '../../operators/reduce-with-effects.ts';
import {
  type FollowEffect,
  type FollowEvent,
  type FollowSign,
  nothingFollowed,
  reduceFollow,
} from './follow-state.ts';
import type { KubeApi } from './kube-api.ts';
import type { Prune } from './kube-object.ts';
import { listObjects } from './list.ts';
import { findResource, pathOf, type Query } from './resource.ts';

/**
 * The API ends a watch after this many seconds, or up to twice as many, so that not all end at
 * once.
 */
const watchLimit = 300;

/**
 * Follows objects of the API: lists them, and then emits each change. Cold; never ends, never
 * errors: a failure is reported, and tried again after 1 s, doubling to 30 s, 20 % more or less.
 *
 * @param prune returns the parts of an object that are needed; all if left out
 * @param random returns a number from 0 up to, but not including, 1
 */
export function followObjects(
  api: KubeApi,
  query: Query,
  {
    prune = (object) => object,
    random = Math.random,
    scheduler = asyncScheduler,
  }: {
    readonly prune?: Prune;
    readonly random?: () => number;
    readonly scheduler?: SchedulerLike;
  } = {},
): Observable<FollowSign> {
  function answer(effect: FollowEffect): Observable<FollowEvent> {
    switch (effect.type) {
      case 'find':
        return findResource(api, query.kind).pipe(
          map((result): FollowEvent => ({ type: 'found', result, random: random() })),
        );
      case 'list':
        return listObjects(api, effect.resource, query, prune).pipe(
          map((listed): FollowEvent => ({ type: 'listed', listed, random: random() })),
        );
      case 'watch': {
        const timeoutSeconds = String(Math.round(watchLimit * (1 + random())));
        const more = {
          watch: '1',
          allowWatchBookmarks: 'true',
          resourceVersion: effect.version,
          timeoutSeconds,
        };
        return defer(() => {
          const begun = scheduler.now();
          return api.watch(pathOf(effect.resource, query, more), effect.resource.decode).pipe(
            map((sign): FollowEvent => ({
              type: 'watched',
              sign,
              lasted: scheduler.now() - begun,
              random: random(),
            })),
          );
        });
      }
    }
  }
  return of<FollowEvent>({ type: 'begin' }).pipe(
    reduceWithEffects(nothingFollowed, reduceFollow, (effect$: Observable<FollowEffect>) =>
      effect$.pipe(
        switchMap((effect) => timer(effect.pause, scheduler).pipe(switchMap(() => answer(effect)))),
      ),
    ),
    mergeMap(({ state: { signs } }) => signs),
    map((sign) => (sign.type === 'set' ? { ...sign, object: prune(sign.object) } : sign)),
  );
}
