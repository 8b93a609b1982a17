import { distinctUntilChanged, filter, ignoreElements, map, merge, mergeMap, Observable, takeUntil, tap } from 'rxjs';
import { ofType } from '../operators/of-type.ts';
import { reduceWithEffects } from '../operators/reduce-with-effects.ts';
import type { SecretBook } from '../secrets/secret-book.ts';
import { freshStream, reduceStream } from './reduce-stream.ts';
import type { StreamEffect, StreamEvent, StreamRequest } from './stream-model.ts';

/** What a stream wants done: those effects that go out to the client or the log; and a name for which there is nothing, with the reason. */
export type StreamOutput =
  | Exclude<StreamEffect, { readonly type: 'watch' | 'unwatch' }>
  | { readonly type: 'missing'; readonly name: string; readonly reason: string };

/**
 * One stream of the secret discovery protocol: requests in, what is to be done out. Follows a secret of the book as long as the client wants it.
 *
 * Cold, never ends: it is unsubscribed when the stream is over. Errors only if `request$` does.
 */
export function sdsStream(request$: Observable<StreamRequest>, book: Pick<SecretBook, 'get'>): Observable<StreamOutput> {
  return new Observable((subscriber) => {
    function follow(name: string): Observable<StreamEvent> {
      return book.get(name).pipe(
        tap(({ served, refused }) => {
          if (served === undefined && refused !== undefined) subscriber.next({ type: 'missing', name, reason: refused });
        }),
        map(({ served }) => served),
        filter((served) => served !== undefined),
        distinctUntilChanged((a, b) => a.version === b.version),
        map((served): StreamEvent => ({ type: 'secret', name, ...served })),
      );
    }
    function carryOut(effect$: Observable<StreamEffect>): Observable<StreamEvent> {
      const unwatch$ = effect$.pipe(ofType('unwatch'));
      return merge(
        effect$.pipe(
          tap((effect) => {
            if (effect.type !== 'watch' && effect.type !== 'unwatch') subscriber.next(effect);
          }),
          ignoreElements(),
        ),
        effect$.pipe(
          ofType('watch'),
          mergeMap(({ name }) => follow(name).pipe(takeUntil(unwatch$.pipe(filter((gone) => gone.name === name))))),
        ),
      );
    }
    const life$ = request$.pipe(
      map((asked): StreamEvent => ({ type: 'request', request: asked })),
      reduceWithEffects(freshStream, reduceStream, carryOut),
    );
    return life$.subscribe({ error: (error: unknown) => subscriber.error(error) });
  });
}
