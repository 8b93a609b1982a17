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
import {
  type AppliedSettings,
  noSettings,
  partlyApplied,
  runtimeRequests,
  type RuntimeSettings,
} from '../start/runtime-settings.ts';

/** The result of sending runtime settings. */
export type RuntimeSign =
  /** The Envoy of this epoch has applied them. */
  | { readonly type: 'runtime-told'; readonly epoch: number; readonly settings: RuntimeSettings }
  /** Envoy did not apply them. They are sent again after `delayMs`. */
  | {
      readonly type: 'runtime-refused';
      readonly epoch: number;
      readonly reason: string;
      readonly delayMs: number;
    };

/** The epoch that serves, and the settings that it should have. */
export interface RuntimeWish {
  readonly epoch: number;
  readonly settings: RuntimeSettings;
}

/**
 * Sends the settings to each Envoy that begins to serve, and each change of them to the one that
 * serves. It uses the admin endpoint, and sends only what differs from the settings that this Envoy
 * has. If Envoy does not apply them, they are sent again as {@link supervise} does, until the next
 * wish. Envoy may have a part of a wish that failed, so the next wish replaces all of it. Emits the
 * result; a wish that changes nothing emits nothing. Completes with `wish$`. Never errors.
 *
 * @param started the log levels that Envoy is started with
 */
export function applyRuntime(
  wish$: Observable<RuntimeWish>,
  admin: Pick<AdminClient, 'request'>,
  started: Parameters<typeof runtimeRequests>[2],
  random?: () => number,
  scheduler?: SchedulerLike,
): Observable<RuntimeSign> {
  return defer(() => {
    let applied: { readonly epoch: number; readonly settings: AppliedSettings } | undefined;
    const tell$ = (wish: RuntimeWish): Observable<RuntimeSign> => {
      const had = applied?.epoch === wish.epoch ? applied.settings : noSettings;
      const requests = runtimeRequests(had, wish.settings, started);
      applied = { epoch: wish.epoch, settings: partlyApplied(had, wish.settings) };
      const answers$ = from(requests).pipe(
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
        applied = wish;
        return requests.length === 0 ? [] : [{ type: 'runtime-told' as const, ...wish }];
      });
      return concat(answers$, done$);
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
