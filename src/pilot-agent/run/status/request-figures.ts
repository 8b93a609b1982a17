import {
  asyncScheduler,
  exhaustMap,
  forkJoin,
  map,
  mergeMap,
  type Observable,
  ReplaySubject,
  scan,
  type SchedulerLike,
  share,
  timer,
} from 'rxjs';
import type { AdminClient } from '../../../proxy/admin-client.ts';
import { bodyOf } from '../../../shared/http/http-answer.ts';
import { attentiveTimeout } from '../../../operators/attentive-timer.ts';
import { settle, type Settled } from '../../../operators/settle.ts';
import { binsSince, quantile } from '../../../proxy/histogram-bins.ts';
import { listenersIn, listenersQuestion, statsNameOf } from '../../../proxy/listener-list.ts';
import {
  type DirectionCounts,
  type ServiceCounts,
  serviceCounts,
  serviceQuestion,
} from '../../../proxy/request-counts.ts';
import { isoTime } from '../../report/epoch-report.ts';
import type { DirectionReport, ServiceReport } from '../../report/request-report.ts';

/** The interval between two queries of Envoy. In ms. */
const every = 5_000;
/** The time that the figures cover. In ms. */
const window = 60_000;
/** The time limit of an answer of Envoy. In ms. */
const patience = 3_000;
/**
 * The limit of an answer of Envoy, in bytes: enough for the statistics of about 10,000 clusters.
 */
const largest = 8 << 20;
/** The limit of listed clusters, and of listed listeners. */
const mostListed = 200;

type Answer = Settled<string>;

interface Sample {
  readonly at: number;
  readonly counts: ServiceCounts;
}

interface FiguresState {
  /** The samples of the last minute, all of one Envoy, newest last. */
  readonly kept: readonly Sample[];
  readonly report: ServiceReport | undefined;
}

/**
 * Emits every 5 s Envoy's figures about requests, clusters and listeners. All subscribers share
 * them. Envoy is queried only while somebody is subscribed, and a late subscriber gets the newest
 * report at once. Answers are read up to 8 MiB. Never errors, never completes.
 */
export function serviceFigures(
  admin: Pick<AdminClient, 'open'>,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<ServiceReport> {
  const none: FiguresState = { kept: [], report: undefined };
  return timer(0, every, scheduler).pipe(
    exhaustMap(() =>
      forkJoin([serviceQuestion, listenersQuestion].map((path) => ask(admin, path, scheduler))),
    ),
    scan((before, [stats, listeners]) => looked(before, stats, listeners, scheduler.now()), none),
    mergeMap(({ report }) => (report === undefined ? [] : [report])),
    share({ connector: () => new ReplaySubject<ServiceReport>(1) }),
  );
}

function ask(
  admin: Pick<AdminClient, 'open'>,
  path: string,
  scheduler: SchedulerLike,
): Observable<Answer> {
  return admin.open(path, {}).pipe(
    mergeMap((answer) => {
      if (answer.statusCode !== 200) throw new Error(`Envoy answers ${String(answer.statusCode)}`);
      return bodyOf(answer, largest).pipe(map((body) => body.toString()));
    }),
    attentiveTimeout(patience, scheduler),
    settle(),
  );
}

/** Returns the state after two queries, answered or not. Pure. */
export function looked(
  before: FiguresState,
  stats: Answer | undefined,
  listeners: Answer | undefined,
  now: number,
): FiguresState {
  if (stats?.ok !== true || listeners?.ok !== true) {
    const failed = [stats, listeners].find((answer) => answer?.ok === false);
    const reason =
      failed?.ok === false && failed.error instanceof Error
        ? failed.error.message
        : 'Envoy does not answer';
    return { kept: before.kept, report: { at: isoTime(now), state: 'silent', reason } };
  }
  const sample: Sample = { at: now, counts: serviceCounts(stats.value) };
  const recent = before.kept.filter(({ at: time }) => time >= now - window);
  // A new Envoy counts from 0.
  const kept = recent.every((earlier) => follows(earlier.counts, sample.counts))
    ? [...recent, sample]
    : [sample];
  return { kept, report: reportOf(kept, sample, listeners.value) };
}

function follows(before: ServiceCounts, now: ServiceCounts): boolean {
  return (['inbound', 'outbound'] as const).every((name) => {
    const [was, is] = [before[name], now[name]];
    if (was === undefined || is === undefined) return was === is;
    const times =
      was.times === undefined || is.times === undefined
        ? undefined
        : binsSince(was.times, is.times);
    return (
      is.requests >= was.requests &&
      is.failures >= was.failures &&
      (was.times === undefined || times !== undefined)
    );
  });
}

function reportOf(
  kept: readonly Sample[],
  { at: time, counts }: Sample,
  listeners: string,
): ServiceReport {
  const first = kept.length > 1 ? kept[0] : undefined;
  const { connections, clusters, clusterCount } = counts;
  const [inbound, outbound] = (['inbound', 'outbound'] as const).map((name) =>
    directionReport(first?.counts[name], counts[name]),
  );
  const places = listenersIn(listeners) ?? [];
  const isWell = ({ healthy, total }: { readonly healthy: number; readonly total: number }) =>
    healthy >= total;
  return {
    at: isoTime(time),
    state: 'answering',
    ...(first !== undefined && { overMs: time - first.at }),
    ...(inbound !== undefined && { inbound }),
    ...(outbound !== undefined && { outbound }),
    ...(clusters !== undefined && {
      clusters: {
        count: clusterCount,
        unhealthy: clusters.filter((cluster) => !isWell(cluster)).length,
        first: clusters
          .toSorted((a, b) => Number(isWell(a)) - Number(isWell(b)))
          .slice(0, mostListed),
      },
    }),
    listeners: {
      count: places.length,
      first: places.slice(0, mostListed).map((place) => {
        const open = connections.get(statsNameOf(place));
        return { ...place, ...(open !== undefined && { connections: open }) };
      }),
    },
  };
}

function directionReport(
  before: DirectionCounts | undefined,
  now: DirectionCounts | undefined,
): DirectionReport | undefined {
  if (now === undefined) return undefined;
  const times = now.times && binsSince(before?.times ?? new Map(), now.times);
  const [p50, p99] = [0.5, 0.99].map((share) => times && quantile(times, share));
  return {
    requests: now.requests - (before?.requests ?? 0),
    failures: now.failures - (before?.failures ?? 0),
    ...(p50 !== undefined && { p50Ms: p50 }),
    ...(p99 !== undefined && { p99Ms: p99 }),
  };
}
