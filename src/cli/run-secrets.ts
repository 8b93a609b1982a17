import { resolve } from 'node:path';
import { defer, ignoreElements, map, merge, type Observable, ReplaySubject, share, tap, filter } from 'rxjs';
import type { AgentConfig } from '../config/resolve-config.ts';
import type { LogLine } from '../log/log-line.ts';
import { fileSecrets } from '../secrets/file-secrets.ts';
import { findSecret } from '../secrets/find-secret.ts';
import { narrateSecret } from '../secrets/narrate-secret.ts';
import { secretBook } from '../secrets/secret-book.ts';
import { workloadFiles } from '../secrets/workload-files.ts';
import { narrateSds } from '../sds/narrate-sds.ts';
import { sdsServer } from '../sds/sds-server.ts';
import { exitCodes } from './exit-codes.ts';
import { Fatal } from './fatal.ts';
import type { SecretsPlan } from './secrets-plan.ts';

/**
 * The secrets and the server that Envoy takes them from: emits once, when it listens, and serves until it is unsubscribed. Cold, never completes; errors with a
 * {@link Fatal} if the socket is not to be had.
 */
export function runSecrets(
  { socket, config }: SecretsPlan,
  { certificates }: AgentConfig,
  tell: (line: LogLine) => void,
): Observable<unknown> {
  return defer(() => {
    const [server, client] = certificates;
    const sides = [
      ...(server === undefined ? [] : [{ ...server, isNamed: config.namesServer }]),
      ...(client === undefined ? [] : [{ ...client, isNamed: config.namesClient }]),
    ];
    const { chain, key, root } = workloadFiles(config.provisioned, sides);
    const workload$ = fileSecrets({ chain: resolve(chain), key: resolve(key), root: resolve(root) }).pipe(
      share({ connector: () => new ReplaySubject(1) }),
    );
    const book = secretBook(findSecret({ workload$, files: (paths) => fileSecrets(paths) }));
    return merge(
      book.changes$.pipe(tap((state) => tell(narrateSecret(state))), ignoreElements()), // prettier-ignore
      merge(book.get('ROOTCA'), book.get('default')).pipe(ignoreElements()), // kept at hand, whether or not Envoy asks
      sdsServer(socket, book).pipe(
        tap((event) => narrateSds(event).forEach(tell)),
        filter(({ type }) => type === 'listening' || type === 'failed'),
        map((event) => {
          if (event.type === 'failed') throw new Fatal(`the socket for secrets: ${event.reason}`, exitCodes.unavailable);
          return event;
        }),
      ),
    );
  });
}
