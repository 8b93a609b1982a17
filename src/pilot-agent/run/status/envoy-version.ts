import { distinctUntilChanged, filter, map, type Observable, switchMap } from 'rxjs';
import type { AdminClient } from '../../../proxy/admin-client.ts';
import type { AgentState } from '../../../epochs/model.ts';
import type { EnvoySign } from '../state/view.ts';

/** `<commit>/1.36.2/Clean/RELEASE/BoringSSL`, the format of Envoy 1.36. */
const form = /"version":\s*"[^"/]*\/([^"/]+)\//;

/**
 * Emits the version of each Envoy that becomes LIVE, as it reports it, with the path of its binary.
 * An Envoy that reports none is skipped. Never errors.
 */
export function envoyVersion(
  epochs$: Observable<AgentState['epochs']>,
  admin: Pick<AdminClient, 'request'>,
  path: string,
): Observable<EnvoySign> {
  return epochs$.pipe(
    map((epochs) => [...epochs].findLast(([, { stage }]) => stage === 'live')?.[0]),
    distinctUntilChanged(),
    filter((epoch) => epoch !== undefined),
    switchMap(() => admin.request('GET', '/server_info')),
    map((answer) => (answer.ok ? form.exec(answer.value.body)?.[1] : undefined)),
    filter((version) => version !== undefined),
    map((version): EnvoySign => ({ type: 'envoy-reported', version, path })),
  );
}
