import { forkJoin, map, type Observable } from 'rxjs';
import type { AdminClient } from './admin-client.ts';
import { parseJson } from '../shared/text/parse-json.ts';

/**
 * The fields that are read from Envoy's `/server_info`. They show which epoch answers: while a
 * child comes up, its parent still answers.
 */
interface ServerInfo {
  readonly state?: string;
  readonly command_line_options?: { readonly base_id?: string; readonly restart_epoch?: number };
}

/** Whether an answer of `/server_info` says LIVE, and comes from the epoch that is meant. */
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

/**
 * Parses an answer that may come from any program: another one may have the address of the admin
 * endpoint.
 */
function parseInfo(body: string): ServerInfo {
  try {
    return (parseJson(body) as ServerInfo | null) ?? {};
  } catch {
    return {};
  }
}

/**
 * The statistics that {@link activeRequests} needs, as Envoy's `filter` takes them. Without
 * `usedonly`: an unused gauge means zero, and an absent one means unknown.
 */
export const activeFilter =
  '^(http\\..+\\.downstream_rq_active|listener\\..+\\.(downstream_cx_active|http\\..+\\.downstream_rq_completed))$';

/**
 * Statistics that are not of clients' traffic: of the admin endpoint, of the metrics and health
 * listeners of a generated bootstrap, and of listeners within Envoy, such as a waypoint has.
 * Traffic within Envoy came in by another listener (seen with Envoy 1.36.2), and the connections
 * between the two stay open when they are idle.
 */
export const ownStats =
  /^(?:(?:http|listener)\.(?:admin|stats|agent)|listener\.envoy_internal_.+)\./;

/**
 * Counts the work in flight: requests of all HTTP connection managers, and connections of the
 * listeners that have none.
 *
 * Idle keep-alive connections do not count. Undefined if neither kind of gauge exists: there may be
 * work that is not measured.
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
 * A field mask keeps the static listeners small; Envoy 1.36 does not apply it to the dynamic ones.
 */
const questions = [
  'resource=static_listeners&mask=listener.traffic_direction',
  'resource=dynamic_listeners',
];

/**
 * Emits once, within a second, whether Envoy has a listener that is marked as inbound. Never
 * errors: no answer means no.
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
 * Emits once, within a second, whether another Envoy may listen on the same ports (SO_REUSEPORT,
 * Envoy's default). Looks at Envoy's listeners, and at `config`, the text from which it was
 * started. Never errors.
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
