import { forkJoin, map, type Observable } from 'rxjs';
import type { AdminClient } from '../admin/admin-client.ts';

/** A field mask keeps the static ones small; into the dynamic ones Envoy 1.36 does not let it reach. */
const questions = ['resource=static_listeners&mask=listener.traffic_direction', 'resource=dynamic_listeners'];

/** Emits once, within a second, whether Envoy has a listener that is marked as inbound. Never errors: no answer is a no. */
export function hasInbound(admin: AdminClient): Observable<boolean> {
  return forkJoin(questions.map((question) => admin.request('GET', `/config_dump?${question}`))).pipe(
    map((answers) => answers.some((answer) => answer.ok && /"traffic_direction": ?"INBOUND"/.test(answer.value.body))),
  );
}
