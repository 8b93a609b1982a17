import {
  concat,
  concatMap,
  defer,
  from,
  ignoreElements,
  map,
  type Observable,
  type SchedulerLike,
  switchMap,
} from 'rxjs';
import type { AdminClient } from '../../../proxy/admin-client.ts';
import { supervise } from '../../../operators/supervise.ts';
import { noSettings, runtimeRequests, type RuntimeSettings } from '../start/runtime-settings.ts';

/** What became of runtime settings. */
export type RuntimeSign =
  /** The Envoy of this epoch has them. */
  | { readonly type: 'runtime-told'; readonly epoch: number; readonly settings: RuntimeSettings }
  /** It has not taken them, and is told again after `delayMs`. */
  | {
      readonly type: 'runtime-refused';
      readonly epoch: number;
      readonly reason: string;
      readonly delayMs: number;
    };

/** The epoch that serves, and the settings that it is to have. */
export interface RuntimeWish {
  readonly epoch: number;
  readonly settings: RuntimeSettings;
}

/**
 * Tells each Envoy that comes to serve its settings, and each change of them to the one that does,
 * through its admin endpoint: what differs from what it was told. One that does not take them is
 * told again as {@link supervise} does, until there is another wish. Emits what became of that; a
 * wish that asks for nothing makes no sign. Completes with `wish$`. Never errors.
 *
 * @param started what Envoy is started with
 */
export function applyRuntime(
  wish$: Observable<RuntimeWish>,
  admin: Pick<AdminClient, 'request'>,
  started: Parameters<typeof runtimeRequests>[2],
  random?: () => number,
  scheduler?: SchedulerLike,
): Observable<RuntimeSign> {
  return defer(() => {
    let told: RuntimeWish | undefined; // by Envoy's own word
    const tell$ = (wish: RuntimeWish): Observable<RuntimeSign> => {
      const had = told?.epoch === wish.epoch ? told.settings : noSettings;
      const requests = runtimeRequests(had, wish.settings, started);
      const asked$ = from(requests).pipe(
        concatMap((path) => admin.request('POST', path)),
        map((answer) => {
          if (!answer.ok)
            throw new Error('its admin endpoint does not answer', { cause: answer.error });
          const { status, body } = answer.value;
          if (status !== 200)
            throw new Error(`its admin endpoint says ${status}: ${body.trim().slice(0, 200)}`);
        }),
        ignoreElements(),
      );
      const done$ = defer(() => {
        told = wish;
        return requests.length === 0 ? [] : [{ type: 'runtime-told' as const, ...wish }];
      });
      return concat(asked$, done$);
    };
    return wish$.pipe(
      switchMap((wish) =>
        defer(() => tell$(wish)).pipe(
          supervise(
            (error, delayMs): RuntimeSign => ({
              type: 'runtime-refused',
              epoch: wish.epoch,
              reason: (error as Error).message,
              delayMs,
            }),
            random,
            scheduler,
          ),
        ),
      ),
    );
  });
}
