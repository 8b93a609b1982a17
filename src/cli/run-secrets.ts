import { resolve } from 'node:path';
import {
  BehaviorSubject,
  concatMap,
  defer,
  filter,
  ignoreElements,
  map,
  merge,
  NEVER,
  type Observable,
  ReplaySubject,
  share,
  tap,
} from 'rxjs';
import type { CaEvent } from '../ca/ca-event.ts';
import { caFamilies } from '../ca/ca-families.ts';
import { countCa, noCa } from '../ca/count-ca.ts';
import { narrateCa } from '../ca/narrate-ca.ts';
import type { AgentConfig } from '../config/resolve-config.ts';
import type { LogLine } from '../log/log-line.ts';
import { ofType } from '../operators/of-type.ts';
import { countSds, noSds } from '../sds/count-sds.ts';
import { narrateSds } from '../sds/narrate-sds.ts';
import { sdsFamilies } from '../sds/sds-families.ts';
import { sdsServer } from '../sds/sds-server.ts';
import { fileSecrets } from '../secrets/file-secrets.ts';
import { findSecret } from '../secrets/find-secret.ts';
import { gatewayFolder } from '../secrets/gateway-folder.ts';
import { gatewaySecrets } from '../secrets/gateway-secrets.ts';
import type { MetricFamily } from '../status/metric-family.ts';
import { narrateSecret } from '../secrets/narrate-secret.ts';
import type { SecretPaths } from '../secrets/read-secret-files.ts';
import type { SetReading } from '../secrets/secret.ts';
import { secretBook } from '../secrets/secret-book.ts';
import { secretFamilies } from '../secrets/secret-families.ts';
import { writeSet } from '../secrets/write-set.ts';
import { exitCodes } from './exit-codes.ts';
import { Fatal } from './fatal.ts';
import type { SecretsPlan } from './secrets-plan.ts';
import { workloadSecrets } from './workload-secrets.ts';

/** What the secrets have to tell as metrics now. */
export type SecretMetrics = () => readonly MetricFamily[];

/**
 * The secrets, and the server that Envoy takes them from: emits its metrics once, when it listens, and serves until it is unsubscribed. Cold, never
 * completes; errors with a {@link Fatal} if the socket is not to be had.
 */
export function runSecrets(plan: SecretsPlan, agent: AgentConfig, tell: (line: LogLine) => void): Observable<SecretMetrics> {
  const { socket, config } = plan;
  return defer(() => {
    const sds$ = new BehaviorSubject(noSds);
    const ca$ = new BehaviorSubject(noCa);
    const isEvent = (sign: SetReading | CaEvent): sign is CaEvent => sign.type === 'issued' || sign.type === 'request-failed';
    const workload$ = workloadSecrets(plan, agent).pipe(
      tap((sign) => {
        if (!isEvent(sign)) return;
        ca$.next(countCa(ca$.value, sign));
        tell(narrateCa(sign));
      }),
      filter((sign) => !isEvent(sign)),
      share({ connector: () => new ReplaySubject(1) }),
    );
    const sources = { files: (paths: SecretPaths) => fileSecrets(paths) };
    const gateway = config.gateway === '' ? () => undefined : gatewaySecrets(gatewayFolder(resolve(config.gateway), sources));
    const book = secretBook(findSecret({ ...sources, workload$, gateway }));
    const families: SecretMetrics = () => [
      ...secretFamilies(book.states(), Date.now()),
      ...sdsFamilies(sds$.value),
      ...caFamilies(ca$.value),
    ];
    // Kept at hand, whether or not Envoy asks; but an authority that nobody has named is not asked before somebody wants a certificate.
    const isAtHand = plan.workload.kind === 'files' || config.caAddress !== '' || config.output !== '';
    const outputs$ = workload$.pipe(
      ofType('set'),
      filter(() => config.output !== ''),
      concatMap(({ set }) => writeSet(resolve(config.output), set)),
      tap((reason) => {
        if (reason !== undefined) tell({ level: 'error', msg: 'secrets could not be written', path: config.output, reason });
      }),
    );
    return merge(
      book.changes$.pipe(
        tap((state) => tell(narrateSecret(state))),
        ignoreElements(),
      ),
      (isAtHand ? merge(book.get('ROOTCA'), book.get('default'), outputs$) : NEVER).pipe(ignoreElements()),
      sdsServer(socket, book).pipe(
        tap((event) => {
          sds$.next(countSds(sds$.value, event));
          for (const line of narrateSds(event)) tell(line);
        }),
        filter(({ type }) => type === 'listening' || type === 'failed'),
        map((event) => {
          if (event.type === 'failed') throw new Fatal(`the socket for secrets: ${event.reason}`, exitCodes.unavailable);
          return families;
        }),
      ),
    );
  });
}
