import { map, type Observable, of, switchMap, take } from 'rxjs';
import type { AgentState } from '../agent/model.ts';

/** Emits once why the start is not over, or undefined if it is, and completes: an Envoy has been LIVE once, whatever came after. Until then it is why the agent is not ready. */
export function unstarted(state$: Observable<AgentState>, unready$: Observable<string | undefined>): Observable<string | undefined> {
  return state$.pipe(
    take(1),
    switchMap(({ served }) => (served ? of(undefined) : unready$.pipe(map((reason) => reason ?? 'Envoy is starting')))),
  );
}
