import { forkJoin, map, type Observable } from 'rxjs';
import type { AdminClient } from '../admin/admin-client.ts';

const questions = ['static_listeners', 'dynamic_listeners'];
const unshared = /"?enable_reuse_port"?\s*:\s*false/;

/**
 * Emits once, within a second, whether another Envoy may listen where this one does (SO_REUSEPORT, Envoy's default): as far as it says so itself, or
 * `config` does, the text that it was started from. Never errors.
 */
export function sharesPorts(admin: AdminClient, config: string): Observable<boolean> {
  return forkJoin(questions.map((resource) => admin.request('GET', `/config_dump?resource=${resource}`))).pipe(
    map((answers) => !unshared.test(config) && !answers.some((answer) => answer.ok && unshared.test(answer.value.body))),
  );
}
