import { exhaustMap, filter, map, merge, type Observable, type SchedulerLike } from 'rxjs';
import { ofType } from '../operators/tagged-union.ts';
import { ending } from './ending.ts';
import type { AgentEvent, Effect } from './model.ts';
import type { Proxy } from './ports.ts';
import type { Timing } from './timing.ts';

/**
 * Runs the process of an epoch, and sends it the signals that `effects$` order. Emits its start and
 * its exit, then completes. Cold; unsubscribing ends the process.
 */
export function runProcess(
  { launch }: Extract<Effect, { type: 'launch' }>,
  proxy: Pick<Proxy, 'run' | 'health' | 'drain'>,
  effects$: Observable<Effect>,
  timing: Timing,
  scheduler: SchedulerLike,
): Observable<AgentEvent> {
  const { epoch } = launch;
  const stopping$ = effects$.pipe(
    ofType('stop'),
    filter((effect) => effect.epoch === epoch),
    exhaustMap((effect) => ending(effect, proxy, timing, scheduler)),
  );
  const reopening$ = ordersTo(epoch, 'reopen', effects$).pipe(map(() => 'SIGUSR1' as const));
  const hopeless$ = ordersTo(epoch, 'kill-unless-live', effects$).pipe(
    exhaustMap(() => proxy.health(epoch)),
    filter((health) => health !== 'live'),
  );
  const killing$ = merge(ordersTo(epoch, 'kill', effects$), hopeless$).pipe(
    map(() => 'SIGKILL' as const),
  );
  return proxy
    .run(launch, merge(stopping$, killing$, reopening$))
    .pipe(
      map((event): AgentEvent =>
        event.type === 'spawned'
          ? { type: 'epoch-spawned', epoch, pid: event.pid }
          : { type: 'epoch-exited', epoch, exit: event.exit },
      ),
    );
}

/** Passes on the effects of a type that are about an epoch. */
export function ordersTo(
  epoch: number,
  type: 'kill' | 'kill-unless-live' | 'reopen' | 'withdraw-turn',
  effects$: Observable<Effect>,
): Observable<Effect> {
  return effects$.pipe(filter((effect) => effect.type === type && effect.epoch === epoch));
}
