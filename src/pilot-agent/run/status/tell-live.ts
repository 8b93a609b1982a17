import {
  asyncScheduler,
  distinctUntilChanged,
  EMPTY,
  filter,
  map,
  merge,
  type Observable,
  scan,
  type SchedulerLike,
  switchMap,
  throttleTime,
  timer,
} from 'rxjs';
import type { AgentReport } from '../../report/agent-report.ts';
import { epochReport, type EpochWithProcess, keptEpochs } from '../../report/epoch-report.ts';
import type { LiveEvent, LogReport, TrafficReport } from '../../report/live-events.ts';
import type { ServiceReport } from '../../report/request-report.ts';
import type { RunView } from '../state/view.ts';

/** The shortest interval between two events about changes. In ms. */
const pace = 200;
/** The interval of checks for facts that emit no change, such as whether Envoy is ready. In ms. */
const look = 1_000;

/** The streams that a live view of the agent shows. */
export interface LiveParts {
  readonly view$: Observable<Pick<RunView, 'agent' | 'past'>>;
  /** Emits the current report once, and completes. */
  readonly report$: Observable<AgentReport>;
  readonly traffic$: Observable<readonly TrafficReport[]>;
  readonly service$: Observable<ServiceReport>;
  readonly lines$: Observable<readonly LogReport[]>;
}

/**
 * Emits the live view of an agent, at once and as it changes, as {@link LiveEvent} describes it;
 * the log only with `withLog`. Cold: it does nothing without a subscriber. Never completes.
 */
export function liveEvents(
  { view$, report$, traffic$, service$, lines$ }: LiveParts,
  withLog: boolean,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<LiveEvent> {
  const paced$ = view$.pipe(throttleTime(pace, scheduler, { leading: true, trailing: true }));
  const reports$ = merge(paced$, timer(look, look, scheduler)).pipe(
    switchMap(() => report$),
    map((report) => ({ ...report, epochs: undefined })),
    distinctUntilChanged(
      (a, b) => JSON.stringify({ ...a, at: '' }) === JSON.stringify({ ...b, at: '' }),
    ),
    map((data): LiveEvent => ({ event: 'report', data })),
  );
  const none: Changed = { all: [], changed: [] };
  const epochs$ = paced$.pipe(
    map(({ agent, past }) => keptEpochs(agent, past)),
    scan(
      ({ all: before }, epochs): Changed => ({
        all: epochs,
        changed: changedSince(before, epochs),
      }),
      none,
    ),
    filter(({ changed }) => changed.length > 0),
    map(({ changed }): LiveEvent => ({ event: 'epochs', data: changed.map(epochReport) })),
  );
  return merge(
    reports$,
    epochs$,
    traffic$.pipe(map((data): LiveEvent => ({ event: 'traffic', data }))),
    service$.pipe(map((data): LiveEvent => ({ event: 'service', data }))),
    withLog ? lines$.pipe(map((data): LiveEvent => ({ event: 'log', data }))) : EMPTY,
  );
}

interface Changed {
  readonly all: readonly EpochWithProcess[];
  readonly changed: readonly EpochWithProcess[];
}

/**
 * Returns the epochs that changed. A record or process state that changed is a new object. Pure.
 */
function changedSince(
  before: readonly EpochWithProcess[],
  after: readonly EpochWithProcess[],
): readonly EpochWithProcess[] {
  const earlier = new Map(before.map((epoch) => [epoch.record.epoch, epoch]));
  return after.filter(({ record, process }) => {
    const previous = earlier.get(record.epoch);
    return previous?.record !== record || previous.process !== process;
  });
}
