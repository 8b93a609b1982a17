import { resolve } from 'node:path';
import {
  concatMap,
  connect,
  defer,
  distinctUntilChanged,
  EMPTY,
  filter,
  finalize,
  ignoreElements,
  map,
  merge,
  type Observable,
  of,
  ReplaySubject,
  scan,
  share,
  skip,
  startWith,
  Subject,
  switchMap,
  tap,
} from 'rxjs';
import type { CaEvent } from '../../secrets/ca/ca-secrets.ts';
import type { AgentConfig } from '../../config/agent-config.ts';
import { ofType } from '../../../operators/tagged-union.ts';
import { sdsServer } from '../../secrets/sds/sds-server.ts';
import {
  expirySigns,
  type ServedCertificate,
  servedCertificate,
} from '../../secrets/certificate-expiry.ts';
import { fileSecrets, type SecretPaths } from '../../secrets/file-secrets.ts';
import { gatewayFolder, gatewaySecrets } from '../../secrets/gateway-secrets.ts';
import { findSecret, type SecretBook, secretBook } from '../../secrets/secret-book.ts';
import { isWhole, type Pair, type SetReading } from '../../secrets/secret.ts';
import { writeSet } from '../../secrets/write-set.ts';
import type { GatewayApi } from './gateway-api.ts';
import { linkedSocket } from './linked-socket.ts';
import { asPart, asServer, type PartFailed, partFailed, steady } from '../state/part.ts';
import {
  count,
  statusAfter,
  measure,
  noCounts,
  initialStatus,
  type SecretsEvent,
  signsOf,
} from './secrets-events.ts';
import type { SecretsPlan } from './secrets-plan.ts';
import type { SourceSecrets } from '../sources/source-secrets.ts';
import type { ServersSign } from '../state/view.ts';
import { workloadSecretNames } from '../../../shared/xds/secret-names.ts';
import { workloadSecrets } from './workload-secrets.ts';

/** The connections between the secrets and the other servers. */
export interface BesideSecrets {
  /** Receives each pair of the workload when it arrives. */
  readonly issued: (pair: Pair) => void;
  /** Emits when the control plane answers again. */
  readonly controlPlane$: Observable<unknown>;
  /** Undefined if no source can provide a secret. */
  readonly ofSources?: SourceSecrets | undefined;
}

/**
 * Runs the secrets, and the server that Envoy requests them from. Emits once that the server
 * listens, or why it cannot, and serves until it is unsubscribed. Emits its metrics at once and
 * when a count changes, and its log lines. Cold; never completes once it listens. The sources of
 * secrets and the server are supervised separately: a server that is started again serves at once
 * what it served before.
 */
export function runSecrets(
  plan: SecretsPlan,
  agent: AgentConfig,
  { issued, controlPlane$, ofSources }: BesideSecrets,
): Observable<ServersSign | PartFailed> {
  return defer(() => {
    const workload = workloadSecrets(plan, agent, controlPlane$);
    if (!workload.ok)
      return of<ServersSign>({ type: 'servers-failed', exit: 'config', reason: workload.reason });
    const sign$ = workload.signs$.pipe(
      tap((sign) => sign.type === 'set' && sign.set.pair !== undefined && issued(sign.set.pair)),
    );
    const { source } = plan.gateway;
    if (source.kind !== 'api') return serveSecrets(plan, undefined, sign$, ofSources);
    return defer(() => import('./gateway-api.ts')).pipe(
      switchMap(({ gatewayApi }) => serveSecrets(plan, gatewayApi(source), sign$, ofSources)),
    );
  });
}

function serveSecrets(
  { socket, config, serving, workload, gateway }: SecretsPlan,
  api: GatewayApi | undefined,
  source$: Observable<SetReading | CaEvent>,
  ofSources: SourceSecrets | undefined,
): Observable<ServersSign | PartFailed> {
  const failures$ = new Subject<PartFailed>();
  // A subscriber of `signs$` only sees what others request: it does not make the agent ask an
  // authority.
  const signs$ = new Subject<SetReading | CaEvent>();
  const workload$ = source$.pipe(
    steady('secrets', failures$),
    share({ connector: () => signs$ }),
    filter((sign) => !isCaEvent(sign)),
    share({ connector: () => new ReplaySubject(1) }),
  );
  const sources = {
    files: (paths: SecretPaths) => fileSecrets(paths).pipe(steady('secrets', failures$)),
  };
  const ofGateway =
    api ??
    (gateway.source.kind === 'folder' ? gatewayFolder(gateway.source.path, sources) : undefined);
  const findInGateway = ofGateway === undefined ? () => undefined : gatewaySecrets(ofGateway);
  const findInSources = ofSources === undefined ? () => undefined : gatewaySecrets(ofSources);
  const findNamed = (name: string) =>
    ofSources?.isNamed(name) === true
      ? findInSources(name)
      : (findInGateway(name) ?? findInSources(name));
  const over$ = new ReplaySubject<void>(1);
  const book = secretBook(findSecret({ ...sources, workload$, gateway: findNamed }), over$);
  const outputs$ = workload$.pipe(
    ofType('set'),
    filter((reading) => config.output !== '' && isWhole(reading)),
    concatMap(({ set }) => writeSet(resolve(config.output), set)),
    startWith(undefined),
    distinctUntilChanged(),
    skip(1),
    map((reason): SecretsEvent =>
      reason === undefined
        ? { type: 'written', path: config.output }
        : { type: 'not-written', path: config.output, reason },
    ),
  );
  const events$ = merge(
    failures$, // first: so that a failure on subscribe is reported too
    signs$.pipe(
      filter(isCaEvent),
      map((event): SecretsEvent => ({
        type: 'ca',
        event,
        address: workload.kind === 'authority' ? workload.address : '',
      })),
    ),
    book.changes$.pipe(map((state): SecretsEvent => ({ type: 'secret', state }))),
    expirySigns(servedCertificates(book.changes$, workload.kind === 'authority')).pipe(
      asPart('expiry'),
      map((sign): SecretsEvent => (sign.type === 'part-failed' ? sign : { type: 'expiry', sign })),
    ),
    serving.kind !== 'off' && serving.workload === 'at-hand'
      ? merge(
          merge(
            book.get(workloadSecretNames.roots),
            book.get(workloadSecretNames.certificate),
          ).pipe(ignoreElements()),
          outputs$,
        ).pipe(asPart('secrets'))
      : EMPTY,
    sdsServer(socket, book).pipe(
      asServer('sds', { listening: 'listening', failed: 'failed' }),
      map((event): SecretsEvent => {
        if (event.type === 'stream-failed') return partFailed('sds', event.error, 0);
        return event.type === 'part-failed' ? event : { type: 'sds', event };
      }),
    ),
  );
  const known$ = events$.pipe(
    connect((shared$) =>
      merge(
        shared$.pipe(
          scan(count, noCounts),
          startWith(noCounts),
          distinctUntilChanged(),
          map((counts): ServersSign => ({
            type: 'servers-measured',
            server: 'secrets',
            families: () => measure(book.states(), counts),
          })),
        ),
        shared$.pipe(scan(statusAfter, initialStatus), concatMap(signsOf)),
      ),
    ),
  );
  const link$ =
    gateway.link === undefined ? EMPTY : linkedSocket(gateway.link, socket).pipe(asPart('sds'));
  // The earlier streams see what a later one causes.
  return merge(api?.told$ ?? EMPTY, link$, known$).pipe(finalize(() => over$.next()));
}

function isCaEvent(sign: SetReading | CaEvent): sign is CaEvent {
  return sign.type === 'asked' || sign.type === 'issued' || sign.type === 'request-failed';
}

/** Emits the certificates of all watched secrets. An authority renews those of the workload. */
function servedCertificates(
  changes$: SecretBook['changes$'],
  hasAuthority: boolean,
): Observable<readonly ServedCertificate[]> {
  return changes$.pipe(
    scan((before, { name, served }) => {
      const isRenewed = hasAuthority && Object.values<string>(workloadSecretNames).includes(name);
      const certificate = served && servedCertificate(name, served.secret, { isRenewed });
      const others = [...before].filter(([other]) => other !== name);
      return new Map(certificate === undefined ? others : [...others, [name, certificate]]);
    }, new Map<string, ServedCertificate>()),
    map((certificates) => [...certificates.values()]),
  );
}
