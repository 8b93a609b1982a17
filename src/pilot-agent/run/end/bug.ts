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

/** Returns the sign for an error of the core, or for an uncaught exception. */
export function bugOf(error: unknown): BugSign {
  return { type: 'bug', ...troubleOf(error), leaves: false };
}

export interface Takedown {
  /** Envoy outlives the agent, unless somebody has asked the agent to end before. */
  readonly keepEnvoy: boolean;
  /**
   * Takes the Envoys down, and completes. `sign$` emits what happens meanwhile; `terminations` is
   * how often the agent was asked to end before.
   */
  readonly takeDown$: (sign$: Observable<RunSign>, terminations: number) => Observable<never>;
}

/**
 * Takes the Envoys down after the first bug, or leaves them, and then emits `bug-over`. The first
 * bug and all other signs are passed on, before and meanwhile, but no further bug. Completes with
 * the source; if there is a bug, not before `bug-over`. Errors if the source or `takeDown$` does.
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
