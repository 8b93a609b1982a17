import type { Observable } from 'rxjs';
import { sdsClient } from '../../secrets/workload-socket/sds-client.ts';
import { type IdentityEvent, socketSecrets } from '../../secrets/workload-socket/socket-secrets.ts';
import type { SetReading } from '../../secrets/secret.ts';

/**
 * Returns the set that the program behind the workload socket gives, and the events of its
 * identity, as {@link socketSecrets} does.
 */
export function socketSigns(
  path: string,
  { nodeId, trustDomain }: { readonly nodeId: string; readonly trustDomain: string | undefined },
): Observable<SetReading | IdentityEvent> {
  return socketSecrets(sdsClient(path, nodeId), { trustDomain, random: Math.random });
}
