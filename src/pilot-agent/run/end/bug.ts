import {
  concat,
  connect,
  EMPTY,
  filter,
  merge,
  type MonoTypeOperatorFunction,
  type Observable,
  of,
  switchMap,
  take,
  withLatestFrom,
} from 'rxjs';
import { ofType } from '../../../operators/tagged-union.ts';
import { troubleOf } from '../state/part.ts';
import type { BugSign, RunSign, RunView } from '../state/view.ts';

/** The core has failed with `error`, or nobody has caught it. */
export function bugOf(error: unknown): BugSign {
  return { type: 'bug', ...troubleOf(error), leaves: false };
}

export interface Takedown {
  /** Envoy outlives the agent, unless somebody has asked for its end before. */
  readonly keepEnvoy: boolean;
  /**
   * Takes the Envoys down, and completes. `sign$` is what happens meanwhile, `terminations` how
   * often the agent has been asked to end before.
   */
  readonly takeDown$: (sign$: Observable<RunSign>, terminations: number) => Observable<never>;
}

/**
 * After the first bug, which is passed on, the Envoys are taken down, or left; then comes
 * `bug-over`. Whatever else happens is passed on, before and meanwhile, but no further bug.
 * Completes with the source, not before `bug-over` if there is a bug. Errors if the source or
 * `takeDown$` does.
 */
export function afterBug(
  view$: Observable<RunView>,
  { keepEnvoy, takeDown$ }: Takedown,
): MonoTypeOperatorFunction<RunSign> {
  return connect((sign$) => {
    const ended$ = sign$.pipe(
      ofType('bug'),
      take(1),
      withLatestFrom(view$),
      switchMap(([bug, { agent }]) => {
        const leaves = keepEnvoy && agent.terminations === 0;
        return concat(
          of({ ...bug, leaves }),
          leaves ? EMPTY : takeDown$(sign$, agent.terminations),
          of<RunSign>({ ...bug, type: 'bug-over' }),
        );
      }),
    );
    return merge(sign$.pipe(filter(({ type }) => type !== 'bug')), ended$);
  });
}
