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
import { epochReport, type KnownEpoch, knownEpochs } from '../../report/epoch-report.ts';
import type { LiveEvent, LogReport, TrafficReport } from '../../report/live-events.ts';
import type { ServiceReport } from '../../report/request-report.ts';
import type { RunView } from '../state/view.ts';

/** At most so often something that changes is told. In ms. */
const pace = 200;
/** What nobody tells is looked at so often: whether Envoy is ready. In ms. */
const look = 1_000;

/** What a look at the agent shows. */
export interface LiveParts {
  readonly view$: Observable<Pick<RunView, 'agent' | 'past'>>;
  /** Emits once how it stands now, and completes. */
  readonly report$: Observable<AgentReport>;
  readonly traffic$: Observable<readonly TrafficReport[]>;
  readonly service$: Observable<ServiceReport>;
  readonly lines$: Observable<readonly LogReport[]>;
}

/**
 * What there is to see of an agent, at once and as it changes, as {@link LiveEvent} says; the log
 * only with `withLog`. Cold: nothing is done while nobody is subscribed. Never completes.
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
    map(({ agent, past }) => knownEpochs(agent, past)),
    scan(({ all: before }, all): Changed => ({ all, changed: changedSince(before, all) }), none),
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
  readonly all: readonly KnownEpoch[];
  readonly changed: readonly KnownEpoch[];
}

/** A record, and the state of a process, are other objects once they have changed. Pure. */
function changedSince(
  before: readonly KnownEpoch[],
  all: readonly KnownEpoch[],
): readonly KnownEpoch[] {
  const earlier = new Map(before.map((one) => [one.record.epoch, one]));
  return all.filter(({ record, process }) => {
    const known = earlier.get(record.epoch);
    return known?.record !== record || known.process !== process;
  });
}
