import { parseStats } from '../admin/parse-stats.ts';

/** The statistics that {@link readiness} looks at, as Envoy's `filter` takes them. */
export const readinessFilter =
  '^(server\\.state|listener_manager\\.workers_started|(cluster_manager\\.cds|listener_manager\\.lds)\\.update_(success|rejected))$';

const states = ['LIVE', 'DRAINING', 'PRE_INITIALIZING', 'INITIALIZING'];

/**
 * Why Envoy is not ready, from its statistics as text; undefined if it is.
 *
 * It is when it is LIVE, its workers have started, and, where it subscribes to clusters or listeners, each has come at least once: Envoy 1.36
 * has the statistics of a subscription only if it has the subscription. (Go agent 1.6: the same, of subscriptions that it took for granted.)
 */
export function readiness(body: string): string | undefined {
  const stats = parseStats(body);
  const state = stats.get('server.state');
  const started = stats.get('listener_manager.workers_started');
  if (state === undefined || started === undefined) return 'failed to get readiness stats';

  const [cds, lds] = ['cluster_manager.cds', 'listener_manager.lds'].map((name) => ({
    successful: stats.get(`${name}.update_success`),
    rejected: stats.get(`${name}.update_rejected`) ?? 0,
  }));
  if (cds?.successful === 0 || lds?.successful === 0) {
    const count = (updates: typeof cds) => `${updates?.successful ?? 0} successful, ${updates?.rejected ?? 0} rejected`;
    return `config not received from Pilot (is Pilot running?): cds updates: ${count(cds)}; lds updates: ${count(lds)}`;
  }
  if (state !== 0) return `server is not live, current state is: ${states[state] ?? String(state)}`;
  return started === 1 ? undefined : 'workers have not yet started';
}
