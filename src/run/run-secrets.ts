import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  asyncScheduler,
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
import { authorityAddress } from '../ca/authority.ts';
import { type CaEvent, caSecrets } from '../ca/ca-secrets.ts';
import { issueCertificate } from '../ca/issue-certificate.ts';
import { istioAuthority } from '../ca/istio-authority.ts';
import { caFamilies, countCa, narrateCa, noCa } from '../ca/telemetry.ts';
import type { LogLine } from '../log/log-line.ts';
import type { MetricFamily } from '../metrics/metric-family.ts';
import { ofType } from '../operators/tagged-union.ts';
import { sdsServer } from '../sds/sds-server.ts';
import { countSds, narrateSds, noSds, sdsFamilies } from '../sds/telemetry.ts';
import { fileSecrets, type SecretPaths, workloadFiles } from '../secrets/file-secrets.ts';
import { gatewayFolder, gatewaySecrets } from '../secrets/gateway-secrets.ts';
import { findSecret, secretBook } from '../secrets/secret-book.ts';
import type { SetReading } from '../secrets/secret.ts';
import { narrateSecret, secretFamilies } from '../secrets/telemetry.ts';
import { writeSet } from '../secrets/write-set.ts';
import { exitCodes, Fatal } from './exit.ts';
import type { SecretsPlan } from './secrets-plan.ts';
import type { AgentConfig } from '../config/agent-config.ts';

/** The set that `default` and `ROOTCA` are of, from where the plan says. `PROV_CERT` beside an authority is what the agent shows the authority. */
export function workloadSecrets(
  { workload, config }: SecretsPlan,
  { provCert, pilotCertProvider = 'istiod' }: Pick<AgentConfig, 'provCert' | 'pilotCertProvider'>,
): Observable<SetReading | CaEvent> {
  if (workload.kind === 'files') {
    const { chain, key, root } = workload.paths;
    return fileSecrets({ chain: resolve(chain), key: resolve(key), root: resolve(root) });
  }
  const address = authorityAddress(workload.address, pilotCertProvider, provCert);
  if (address === undefined) {
    throw new Fatal(`PILOT_CERT_PROVIDER: '${pilotCertProvider}' is not one of istiod, kubernetes, custom, system`, exitCodes.config);
  }
  const shown = provCert === '' ? undefined : workloadFiles(provCert, []);
  const authority = istioAuthority({ ...address, client: shown, clusterId: config.clusterId });
  const { algorithm, pkcs8, trustDomain, ttl, graceRatio: ratio, initialBackOff } = config;
  const token = shown !== undefined && !existsSync(config.tokenFile) ? undefined : config.tokenFile;
  const issue$ = issueCertificate(authority, { algorithm, pkcs8, token, trustDomain, ttl });
  return caSecrets(issue$, { name: authority.name, ratio, initialBackOff, random: Math.random });
}

/** What the secrets have to tell as metrics now. */
export type SecretMetrics = () => readonly MetricFamily[];

/**
 * The secrets, and the server that Envoy takes them from: emits its metrics once, when it listens, and serves until it is unsubscribed. Cold, never
 * completes; errors with a {@link Fatal} if the socket is not to be had.
 */
export function runSecrets(plan: SecretsPlan, agent: AgentConfig, log: (line: LogLine) => void): Observable<SecretMetrics> {
  const { socket, config } = plan;
  return defer(() => {
    const sds$ = new BehaviorSubject(noSds);
    const ca$ = new BehaviorSubject(noCa);
    const isEvent = (sign: SetReading | CaEvent): sign is CaEvent => sign.type === 'issued' || sign.type === 'request-failed';
    const workload$ = workloadSecrets(plan, agent).pipe(
      tap((sign) => {
        if (!isEvent(sign)) return;
        ca$.next(countCa(ca$.value, sign));
        log(narrateCa(sign));
      }),
      filter((sign) => !isEvent(sign)),
      share({ connector: () => new ReplaySubject(1) }),
    );
    const sources = { files: (paths: SecretPaths) => fileSecrets(paths) };
    const gateway = config.gateway === '' ? () => undefined : gatewaySecrets(gatewayFolder(resolve(config.gateway), sources));
    const book = secretBook(findSecret({ ...sources, workload$, gateway }));
    const families: SecretMetrics = () => [
      ...secretFamilies(book.states(), asyncScheduler.now()),
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
        if (reason !== undefined)
          log({ level: 'error', event: 'secret.not_written', msg: 'secrets could not be written', path: config.output, reason });
      }),
    );
    return merge(
      book.changes$.pipe(
        tap((state) => log(narrateSecret(state))),
        ignoreElements(),
      ),
      (isAtHand ? merge(book.get('ROOTCA'), book.get('default'), outputs$) : NEVER).pipe(ignoreElements()),
      sdsServer(socket, book).pipe(
        tap((event) => {
          sds$.next(countSds(sds$.value, event));
          for (const line of narrateSds(event)) log(line);
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
