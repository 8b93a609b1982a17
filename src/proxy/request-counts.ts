import { ownStats } from './admin-questions.ts';
import { type Bins, joinedBins, parseBins } from './histogram-bins.ts';

/** HTTP requests of one direction since the start of an Envoy. */
export interface DirectionCounts {
  readonly requests: number;
  readonly failures: number;
  /** The durations of the requests, in ms; undefined if Envoy does not measure them. */
  readonly times: Bins | undefined;
}

/** The counts of an Envoy's service. A direction, or all clusters, may be uncounted. */
export interface ServiceCounts {
  readonly inbound: DirectionCounts | undefined;
  readonly outbound: DirectionCounts | undefined;
  readonly clusters:
    | readonly { readonly name: string; readonly healthy: number; readonly total: number }[]
    | undefined;
  /** The number of all clusters; at most {@link mostClusters} of them are counted. */
  readonly clusterCount: number;
  /** Open connections, by the name of a listener in the statistics. */
  readonly connections: ReadonlyMap<string, number>;
}

/** The path of the request whose answer {@link serviceCounts} parses. */
export const serviceQuestion = `/stats?histogram_buckets=detailed&filter=${encodeURIComponent(
  '^(http\\..+\\.downstream_rq_(completed|5xx|time)|cluster\\..+\\.(membership_(healthy|total)|upstream_rq_(completed|5xx|time))|listener\\..+\\.downstream_cx_active)$',
)}`;

const mostClusters = 10_000;
/** The longest name, in characters. */
const longestName = 200;

/** Statistics of a part of a cluster or listener, which the counts of the whole include. */
const part = /\.(?:external|internal|canary|zone\.[^.]+\.[^.]+|worker_\d+|main_thread)\.[^.]+$/;

/** Envoy uses these clusters to ask the agent or the control plane, which other metrics report. */
const ownClusters = /^cluster\.(?:xds-grpc|sds-grpc)\./;

/**
 * Parses Envoy's counts, as it prints them with `histogram_buckets=detailed`. If the HTTP listeners
 * are named `inbound_…` and `outbound_…`, as in a mesh, these are the directions. Otherwise inbound
 * is the traffic of its listeners, and outbound that of its clusters. Pure.
 */
export function serviceCounts(body: string): ServiceCounts {
  const numbers = new Map<string, number>();
  const times = new Map<string, Bins>();
  const healthy = new Map<string, number>();
  const clusters: { name: string; healthy: number; total: number }[] = [];
  let clusterCount = 0;
  let histogram = '';
  for (const line of body.split('\n')) {
    const totals = /^ +totals=(.*)$/.exec(line)?.[1];
    if (totals !== undefined) times.set(histogram, parseBins(totals));
    const [, name = '', value = ''] = /^([^ ].*?):(?: (\d+|No recorded values))?$/.exec(line) ?? [];
    if (name === '' || ownStats.test(name) || ownClusters.test(name) || part.test(name)) continue;
    const [, cluster = '', membership] =
      /^cluster\.(.+)\.membership_(healthy|total)$/.exec(name) ?? [];
    if (name.endsWith('_rq_time')) {
      histogram = name;
      times.set(name, new Map());
    } else if (membership === 'healthy') {
      if (healthy.size < mostClusters) healthy.set(cluster, Number(value));
    } else if (membership === 'total') {
      clusterCount += 1;
      if (clusters.length < mostClusters)
        clusters.push({
          name: cluster.slice(0, longestName),
          healthy: healthy.get(cluster) ?? 0,
          total: Number(value),
        });
    } else numbers.set(name, Number(value));
  }
  const direction = (begins: RegExp, side: 'downstream' | 'upstream') =>
    directionCounts(numbers, times, begins, side);
  const hasDirections = [...numbers.keys()].some((name) => /^http\.(?:in|out)bound_/.test(name));
  return {
    inbound: direction(
      hasDirections ? /^http\.(?:inbound_|InboundPassthrough)/ : /^http\./,
      'downstream',
    ),
    outbound: hasDirections
      ? direction(/^http\.outbound_/, 'downstream')
      : direction(/^cluster\./, 'upstream'),
    clusters: clusterCount === 0 ? undefined : clusters,
    clusterCount,
    connections: new Map(
      [...numbers].flatMap(([name, value]) =>
        name.startsWith('listener.')
          ? [[name.replace(/^listener\.|\.downstream_cx_active$/g, ''), value] as const]
          : [],
      ),
    ),
  };
}

function directionCounts(
  numbers: ReadonlyMap<string, number>,
  times: ReadonlyMap<string, Bins>,
  begins: RegExp,
  side: 'downstream' | 'upstream',
): DirectionCounts | undefined {
  const ending = <T>(values: ReadonlyMap<string, T>, end: string) =>
    [...values].flatMap(([name, value]) =>
      begins.test(name) && name.endsWith(`.${side}_rq_${end}`) ? [value] : [],
    );
  const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
  const completed = ending(numbers, 'completed');
  const measured = ending(times, 'time');
  if (completed.length === 0) return undefined;
  return {
    requests: sum(completed),
    failures: sum(ending(numbers, '5xx')),
    times: measured.length === 0 ? undefined : joinedBins(measured),
  };
}
