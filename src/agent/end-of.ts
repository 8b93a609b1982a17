import { filter, type Observable, take } from 'rxjs';
import { ofType } from '../operators/of-type.ts';
import type { AgentEvent } from './model.ts';

/** Emits the exit of an epoch once, when it happens, and completes. */
export function endOf(epoch: number, events$: Observable<AgentEvent>): Observable<Extract<AgentEvent, { type: 'epoch-exited' }>> {
  return events$.pipe(
    ofType('epoch-exited'),
    filter((event) => event.epoch === epoch),
    take(1),
  );
}
