/** The statistics that {@link activeRequests} needs, as Envoy's `filter` takes them. Not `usedonly`: an unused gauge says zero, an absent one nothing. */
export const activeFilter =
  '^(http\\..+\\.downstream_rq_active|listener\\..+\\.(downstream_cx_active|http\\..+\\.downstream_rq_completed))$';

/** What belongs to Envoy and the agent themselves: the admin endpoint, the metrics and health listeners of a generated bootstrap. */
const own = /^(?:http|listener)\.(?:admin|stats|agent)\./;

/**
 * What is in flight: requests of all HTTP connection managers, and connections of the listeners that have none.
 *
 * Idle keep-alive connections do not count. Undefined where there is neither a gauge of the one kind nor of the other: what is not measured
 * may still be there.
 */
export function activeRequests(stats: ReadonlyMap<string, number>): number | undefined {
  const names = [...stats.keys()].filter((name) => !own.test(name));
  const speaksHttp = names.flatMap((name) => /^listener\.(.+)\.http\..+\.downstream_rq_completed$/.exec(name)?.[1] ?? []);
  const counted = names.filter((name) => {
    if (name.startsWith('http.')) return name.endsWith('.downstream_rq_active');
    const listener = /^listener\.(.+)\.downstream_cx_active$/.exec(name)?.[1];
    return listener !== undefined && !/\.(?:worker_\d+|main_thread)$/.test(listener) && !speaksHttp.includes(listener);
  });
  return counted.length === 0 ? undefined : counted.reduce((sum, name) => sum + (stats.get(name) ?? 0), 0);
}
