import { activeRequests, ownStats } from './admin-questions.ts';

/** The traffic of an Envoy's clients since its start, and now. */
export interface TrafficCounts {
  /** Answered HTTP requests, and connections of listeners that do not speak HTTP. */
  readonly requests: number;
  /** Requests answered with 5xx. */
  readonly failures: number;
  readonly connections: number;
  /** Requests in flight; 0 if that is not measured. */
  readonly active: number;
}

/** The statistics that {@link trafficCounts} needs, as Envoy's `filter` takes them. */
export const trafficFilter =
  '^(http\\..+\\.downstream_rq_active|listener\\..+\\.(downstream_cx_(active|total)|http\\..+\\.downstream_rq_(completed|5xx)))$';

/** Computes the traffic from the statistics. Pure. */
export function trafficCounts(stats: ReadonlyMap<string, number>): TrafficCounts {
  const names = [...stats.keys()].filter(
    (name) => !ownStats.test(name) && !/\.(?:worker_\d+|main_thread)\.[^.]+$/.test(name),
  );
  const sum = (statNames: readonly string[]) =>
    statNames.reduce((total, name) => total + (stats.get(name) ?? 0), 0);
  const ending = (end: string) =>
    names.filter((name) => name.startsWith('listener.') && name.endsWith(end));
  const completed = ending('.downstream_rq_completed');
  const speakHttp = new Set(completed.map((name) => name.replace(/\.http\..*$/, '')));
  const plain = ending('.downstream_cx_total').filter(
    (name) => !speakHttp.has(name.replace(/\.downstream_cx_total$/, '')),
  );
  return {
    requests: sum(completed) + sum(plain),
    failures: sum(ending('.downstream_rq_5xx')),
    connections: sum(ending('.downstream_cx_active')),
    active: activeRequests(stats) ?? 0,
  };
}
