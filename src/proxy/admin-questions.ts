import { forkJoin, map, type Observable } from 'rxjs';
import type { AdminClient } from './admin-client.ts';
import { parseJson } from '../shared/text/parse-json.ts';

/**
 * What is asked of Envoy's `/server_info`. While a child comes up it is still its parent that
 * answers.
 */
interface ServerInfo {
  readonly state?: string;
  readonly command_line_options?: { readonly base_id?: string; readonly restart_epoch?: number };
}

/** Whether an answer of `/server_info` says LIVE, and is of the epoch that is meant. */
export function isLive(
  body: string,
  meant: { readonly baseId: number; readonly restartEpoch: number } | undefined,
): boolean {
  const { state, command_line_options: options } = parseInfo(body);
  return (
    state === 'LIVE' &&
    options?.base_id === String(meant?.baseId) &&
    options.restart_epoch === meant?.restartEpoch
  );
}

/** Somebody else may be where the admin endpoint is looked for, and answer what he likes. */
function parseInfo(body: string): ServerInfo {
  try {
    return (parseJson(body) as ServerInfo | null) ?? {};
  } catch {
    return {};
  }
}

/**
 * The statistics that {@link activeRequests} needs, as Envoy's `filter` takes them. Not `usedonly`:
 * an unused gauge says zero, an absent one nothing.
 */
export const activeFilter =
  '^(http\\..+\\.downstream_rq_active|listener\\..+\\.(downstream_cx_active|http\\..+\\.downstream_rq_completed))$';

/**
 * What belongs to Envoy and the agent themselves: the admin endpoint, the metrics and health
 * listeners of a generated bootstrap; and listeners within Envoy, such as a waypoint has. What is
 * in flight there came in by another listener (seen with Envoy 1.36.2), and the connections between
 * the two are kept when they are idle.
 */
export const ownStats =
  /^(?:(?:http|listener)\.(?:admin|stats|agent)|listener\.envoy_internal_.+)\./;

/**
 * What is in flight: requests of all HTTP connection managers, and connections of the listeners
 * that have none.
 *
 * Idle keep-alive connections do not count. Undefined where there is neither a gauge of the one
 * kind nor of the other: what is not measured may still be there.
 */
export function activeRequests(stats: ReadonlyMap<string, number>): number | undefined {
  const names = [...stats.keys()].filter((name) => !ownStats.test(name));
  const speaksHttp = new Set(
    names.flatMap(
      (name) => /^listener\.(.+)\.http\..+\.downstream_rq_completed$/.exec(name)?.[1] ?? [],
    ),
  );
  const counted = names.filter((name) => {
    if (name.startsWith('http.')) return name.endsWith('.downstream_rq_active');
    const listener = /^listener\.(.+)\.downstream_cx_active$/.exec(name)?.[1];
    return (
      listener !== undefined &&
      !/\.(?:worker_\d+|main_thread)$/.test(listener) &&
      !speaksHttp.has(listener)
    );
  });
  return counted.length === 0
    ? undefined
    : counted.reduce((sum, name) => sum + (stats.get(name) ?? 0), 0);
}

/**
 * A field mask keeps the static ones small; into the dynamic ones Envoy 1.36 does not let it reach.
 */
const questions = [
  'resource=static_listeners&mask=listener.traffic_direction',
  'resource=dynamic_listeners',
];

/**
 * Emits once, within a second, whether Envoy has a listener that is marked as inbound. Never
 * errors: no answer is a no.
 */
export function hasInbound(admin: AdminClient): Observable<boolean> {
  return forkJoin(
    questions.map((question) => admin.request('GET', `/config_dump?${question}`)),
  ).pipe(
    map((answers) =>
      answers.some(
        (answer) => answer.ok && /"traffic_direction": ?"INBOUND"/.test(answer.value.body),
      ),
    ),
  );
}

const listenerKinds = ['static_listeners', 'dynamic_listeners'];
const unshared = /"?enable_reuse_port"?\s*:\s*false/;

/**
 * Emits once, within a second, whether another Envoy may listen where this one does (SO_REUSEPORT,
 * Envoy's default): as far as it says so itself, or `config` does, the text that it was started
 * from. Never errors.
 */
export function sharesPorts(admin: AdminClient, config: string): Observable<boolean> {
  return forkJoin(
    listenerKinds.map((resource) => admin.request('GET', `/config_dump?resource=${resource}`)),
  ).pipe(
    map(
      (answers) =>
        !unshared.test(config) &&
        !answers.some((answer) => answer.ok && unshared.test(answer.value.body)),
    ),
  );
}
