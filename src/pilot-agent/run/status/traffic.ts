import {
  asyncScheduler,
  concat,
  defer,
  exhaustMap,
  filter,
  map,
  type Observable,
  of,
  type SchedulerLike,
  share,
  tap,
  timer,
  withLatestFrom,
} from 'rxjs';
import { type AdminClient, parseStats } from '../../../proxy/admin-client.ts';
import { usage } from '../../../proxy/proc.ts';
import { type TrafficCounts, trafficCounts, trafficFilter } from '../../../proxy/traffic-counts.ts';
import { isoTime } from '../../report/epoch-report.ts';
import type { ProcessReport, TrafficReport } from '../../report/live-events.ts';
import type { RunView } from '../state/view.ts';

/** The interval between two queries of Envoy. In ms. */
const every = 1_000;
/** The number of reports in ten minutes. */
const mostReports = 600;
/** The number of epochs whose requests are counted separately. */
const mostEpochs = 100;

/** The counts so far, and Envoy's last answer. */
interface Counted {
  readonly requests: number;
  readonly failures: number;
  readonly byEpoch: TrafficReport['byEpoch'];
  readonly last: TrafficCounts | undefined;
}

/**
 * Emits once a second what Envoy's clients do, shared by all subscribers. Envoy is queried only
 * while somebody is subscribed. Emits the reports of the last ten minutes at once, then one each
 * second. Never errors, never completes.
 *
 * A request counts for the epoch that serves when it is seen: what a parent answers while it drains
 * counts for its child.
 */
export function traffic(
  view$: Observable<Pick<RunView, 'agent'>>,
  admin: Pick<AdminClient, 'request'>,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<readonly TrafficReport[]> {
  let counted: Counted = { requests: 0, failures: 0, byEpoch: [], last: undefined };
  let newest: readonly TrafficReport[] = [];
  const reports$ = timer(0, every, scheduler).pipe(
    exhaustMap(() => admin.request('GET', `/stats?filter=${encodeURIComponent(trafficFilter)}`)),
    withLatestFrom(view$),
    map(([answer, { agent }]): TrafficReport => {
      const epoch = answer.ok
        ? [...agent.epochs].findLast(([, { stage }]) => stage === 'live')?.[0]
        : undefined;
      const now =
        answer.ok && answer.value.status === 200
          ? trafficCounts(parseStats(answer.value.body))
          : undefined;
      if (now !== undefined) counted = count(counted, now, epoch);
      const { requests, failures, byEpoch } = counted;
      const { connections, active } = now ?? { connections: 0, active: 0 };
      const processes = processReports(agent.epochs);
      return {
        at: isoTime(scheduler.now()),
        ...(epoch !== undefined && { epoch }),
        requests,
        failures,
        connections,
        active,
        byEpoch,
        processes,
      };
    }),
    tap((report) => (newest = [...newest, report].slice(-mostReports))),
    map((report) => [report]),
    share(),
  );
  return concat(
    defer(() => of(newest).pipe(filter(({ length }) => length > 0))),
    reports$,
  );
}

/**
 * Adds what happened since the last query. A child counts from 0, and its counts include what its
 * parent still does (Envoy's documentation of the hot restart). So a count that is lower than
 * before belongs to another Envoy. The first query only gives the counts to compare with.
 */
function count(
  { requests, failures, byEpoch, last }: Counted,
  now: TrafficCounts,
  epoch: number | undefined,
): Counted {
  const more = (name: 'requests' | 'failures') =>
    last === undefined ? 0 : now[name] < last[name] ? now[name] : now[name] - last[name];
  const added = { epoch: epoch ?? -1, requests: more('requests'), failures: more('failures') };
  const earlier = byEpoch.find((entry) => entry.epoch === epoch);
  const sum =
    earlier === undefined
      ? added
      : {
          ...added,
          requests: earlier.requests + added.requests,
          failures: earlier.failures + added.failures,
        };
  const others = byEpoch.filter((entry) => entry !== earlier);
  return {
    requests: requests + added.requests,
    failures: failures + added.failures,
    byEpoch: epoch === undefined ? byEpoch : [...others, sum].slice(-mostEpochs),
    last: now,
  };
}

function processReports(epochs: RunView['agent']['epochs']): readonly ProcessReport[] {
  const envoys = [...epochs].flatMap(([epoch, { pid }]) =>
    pid === undefined ? [] : [{ what: 'envoy' as const, epoch, pid }],
  );
  return [{ what: 'agent' as const, pid: process.pid }, ...envoys].flatMap((program) => {
    const used = usage(program.pid);
    return used === undefined ? [] : [{ ...program, ...used }];
  });
}
