import { map, type Observable, type SchedulerLike, switchMap, timer } from 'rxjs';
import type { AgentEvent, Effect } from './model.ts';
import type { Proxy, Verdict } from './ports.ts';

/** Checks a reading after the delay of the effect, emits the verdict once, and completes. */
export function checkReading(
  { reading, delay }: Extract<Effect, { type: 'check' }>,
  proxy: Pick<Proxy, 'check'>,
  scheduler: SchedulerLike,
): Observable<AgentEvent> {
  const { hash } = reading;
  const verdict$ = proxy.check(reading);
  return (delay === 0 ? verdict$ : timer(delay, scheduler).pipe(switchMap(() => verdict$))).pipe(
    map((verdict) => checkedEvent(hash, verdict)),
  );
}

function checkedEvent(hash: string, verdict: Verdict): AgentEvent {
  if (verdict.kind === 'refused') {
    const { reason, excerpt } = verdict;
    return { type: 'config-refused', hash, reason, ...(excerpt !== undefined && { excerpt }) };
  }
  if (verdict.kind === 'unchecked') {
    const { reason, outOfMemory } = verdict;
    return { type: 'config-unchecked', hash, reason, outOfMemory };
  }
  return { type: 'config-accepted', hash, verdict };
}
