import { forkJoin, map, type Observable } from 'rxjs';
import type { AdminClient } from '../admin/admin-client.ts';

/** Only what is asked for: a sidecar's dump of all listeners is megabytes. */
const questions = [
  'resource=static_listeners&mask=listener.traffic_direction',
  'resource=dynamic_listeners&mask=active_state.listener.traffic_direction',
];

/** Emits once, within a second, whether Envoy has a listener that is marked as inbound. Never errors: no answer is a no. */
export function hasInbound(admin: AdminClient): Observable<boolean> {
  return forkJoin(questions.map((question) => admin.request('GET', `/config_dump?${question}`))).pipe(
    map((answers) => answers.some((answer) => answer.ok && answer.value.body.includes('"INBOUND"'))),
  );
}
