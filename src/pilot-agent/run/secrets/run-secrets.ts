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
import { crlFile, withCrl } from '../../secrets/with-crl.ts';
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
import { type WorkloadSign, workloadSecrets } from './workload-secrets.ts';

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
  plan: SecretsPlan,
  api: GatewayApi | undefined,
  source$: Observable<WorkloadSign>,
  ofSources: SourceSecrets | undefined,
): Observable<ServersSign | PartFailed> {
  const { socket, gateway, config } = plan;
  const crl = crlFile(config.crlFile === '' ? '' : resolve(config.crlFile));
  const failures$ = new Subject<PartFailed>();
  // A subscriber of `signs$` only sees what others request: it does not make the agent ask an
  // authority.
  const signs$ = new Subject<WorkloadSign>();
  const workload$ = source$.pipe(
    steady('secrets', failures$),
    share({ connector: () => signs$ }),
    filter(isReading),
    withCrl(crl, 'of the mesh'),
    share({ connector: () => new ReplaySubject(1) }),
  );
  const sources = {
    files: (paths: SecretPaths) => fileSecrets(paths).pipe(steady('secrets', failures$)),
  };
  const ofGateway =
    api ??
    (gateway.source.kind === 'folder' ? gatewayFolder(gateway.source.path, sources) : undefined);
  const over$ = new ReplaySubject<void>(1);
  const book = secretBook(
    findSecret({ ...sources, crl, workload$, gateway: namedSecrets(ofGateway, ofSources) }),
    over$,
  );
  const events$ = merge(
    failures$, // first: so that a failure on subscribe is reported too
    authorityEvents(signs$, plan),
    bookEvents(book, plan),
    served(book, workload$, plan),
    serverEvents(socket, book),
  );
  const link$ =
    gateway.link === undefined ? EMPTY : linkedSocket(gateway.link, socket).pipe(asPart('sds'));
  // The order matters: an earlier stream must be subscribed before a later one emits.
  return merge(api?.change$ ?? EMPTY, link$, signsAndMetrics(events$, book)).pipe(
    finalize(() => over$.next()),
  );
}

type FindNamed = ReturnType<typeof gatewaySecrets>;

/** Finds secrets by name: a source wins if it names the secret, otherwise the gateway's. */
function namedSecrets(
  ofGateway: Parameters<typeof gatewaySecrets>[0] | undefined,
  ofSources: SourceSecrets | undefined,
): FindNamed {
  const findInGateway: FindNamed =
    ofGateway === undefined ? () => undefined : gatewaySecrets(ofGateway);
  const findInSources: FindNamed =
    ofSources === undefined ? () => undefined : gatewaySecrets(ofSources);
  return (name) =>
    ofSources?.isNamed(name) === true
      ? findInSources(name)
      : (findInGateway(name) ?? findInSources(name));
}

function authorityEvents(
  signs$: Observable<WorkloadSign>,
  { workload }: SecretsPlan,
): Observable<SecretsEvent> {
  const address = workload.kind === 'authority' ? workload.address : '';
  const path = workload.kind === 'socket' ? workload.path : '';
  return signs$.pipe(
    filter((sign) => !isReading(sign)),
    map((event): SecretsEvent => {
      switch (event.type) {
        case 'socket-asked':
        case 'identity-refused':
        case 'identity-given':
          return { type: 'socket', event, path };
        default:
          return { type: 'ca', event, address };
      }
    }),
  );
}

/** Emits the changes of secrets, and the expiry of their certificates. */
function bookEvents({ changes$ }: SecretBook, { workload }: SecretsPlan): Observable<SecretsEvent> {
  return merge(
    changes$.pipe(map((state): SecretsEvent => ({ type: 'secret', state }))),
    expirySigns(servedCertificates(changes$, workload.kind === 'authority')).pipe(
      asPart('expiry'),
      map((sign): SecretsEvent => (sign.type === 'part-failed' ? sign : { type: 'expiry', sign })),
    ),
  );
}

/** Requests the workload's secrets before Envoy does, if the plan says so, and writes them. */
function served(
  book: SecretBook,
  workload$: Observable<SetReading>,
  { serving, config }: SecretsPlan,
): Observable<SecretsEvent> {
  if (serving.kind === 'off' || serving.workload !== 'at-hand') return EMPTY;
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
  const requested$ = merge(
    book.get(workloadSecretNames.roots),
    book.get(workloadSecretNames.certificate),
  ).pipe(ignoreElements());
  const served$ = merge(requested$, outputs$).pipe(asPart('secrets'));
  return served$;
}

function serverEvents(socket: string, book: SecretBook): Observable<SecretsEvent> {
  return sdsServer(socket, book).pipe(
    asServer('sds', { listening: 'listening', failed: 'failed' }),
    map((event): SecretsEvent => {
      if (event.type === 'stream-failed') return partFailed('sds', event.error, 0);
      return event.type === 'part-failed' ? event : { type: 'sds', event };
    }),
  );
}

/** Emits the metrics, at once and when a count changes, and the signs of all events. */
function signsAndMetrics(
  events$: Observable<SecretsEvent>,
  book: SecretBook,
): Observable<ServersSign | PartFailed> {
  return events$.pipe(
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
}

function isReading(sign: WorkloadSign): sign is SetReading {
  return sign.type === 'set' || sign.type === 'refused';
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
