import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import {
  asyncScheduler,
  concatMap,
  connect,
  defer,
  distinctUntilChanged,
  EMPTY,
  filter,
  ignoreElements,
  map,
  merge,
  type Observable,
  of,
  ReplaySubject,
  scan,
  share,
  startWith,
  Subject,
  tap,
} from 'rxjs';
import type { CaEvent } from '../ca/ca-secrets.ts';
import { type CaCounts, caFamilies, countCa, narrateCa, noCa } from '../ca/telemetry.ts';
import type { AgentConfig } from '../config/agent-config.ts';
import type { LogLine } from '../log/log-line.ts';
import type { MetricFamily } from '../metrics/metric-family.ts';
import { ofType } from '../operators/tagged-union.ts';
import { sdsServer } from '../sds/sds-server.ts';
import { countSds, narrateSds, noSds, type SdsCounts, type SdsEvent, sdsFamilies } from '../sds/telemetry.ts';
import { fileSecrets, type SecretPaths } from '../secrets/file-secrets.ts';
import { gatewayFolder, gatewaySecrets } from '../secrets/gateway-secrets.ts';
import { findSecret, secretBook } from '../secrets/secret-book.ts';
import { isWhole, type Pair, type SecretState, type SetReading } from '../secrets/secret.ts';
import { narrateSecret, secretFamilies } from '../secrets/telemetry.ts';
import { writeSet } from '../secrets/write-set.ts';
import { asPart, asServer, type PartFailed, partFailed, steady } from './part.ts';
import { afterSds, afterState, listTroubles, noTroubles, type SecretTroubles, wasTold } from './secret-troubles.ts';
import type { SecretsPlan } from './secrets-plan.ts';
import type { ServersSign } from './view.ts';
import { workloadSecrets } from './workload-secrets.ts';

/**
 * The secrets, and the server that Envoy takes them from: tells once when it listens, or why it
 * cannot, and serves until it is unsubscribed. Tells its metrics at once and whenever one is
 * counted, and what there is to log. Cold; never completes once it listens. The sources of secrets
 * and the server are started again each by itself where they fail: a server that comes back has at
 * once what it served.
 *
 * @param issued is told each pair of the workload as it comes
 */
export function runSecrets(plan: SecretsPlan, agent: AgentConfig, issued: (pair: Pair) => void): Observable<ServersSign | PartFailed> {
  return defer(() => {
    const workload = workloadSecrets(plan, agent);
    return workload.ok
      ? serveSecrets(plan, workload.signs$.pipe(tap((sign) => sign.type === 'set' && sign.set.pair !== undefined && issued(sign.set.pair))))
      : of<ServersSign>({ type: 'servers-failed', exit: 'config', reason: workload.reason });
  });
}

function serveSecrets(
  { socket, config, isAtHand }: SecretsPlan,
  source$: Observable<SetReading | CaEvent>,
): Observable<ServersSign | PartFailed> {
  const failures$ = new Subject<PartFailed>();
  // Who looks at `signs$` only hears what others ask for: an authority is not asked because of it.
  const signs$ = new Subject<SetReading | CaEvent>();
  const workload$ = source$.pipe(
    steady('secrets', failures$),
    share({ connector: () => signs$ }),
    filter((sign) => !isCaEvent(sign)),
    share({ connector: () => new ReplaySubject(1) }),
  );
  const sources = { files: (paths: SecretPaths) => fileSecrets(paths).pipe(steady('secrets', failures$)) };
  const gateway = config.gateway === '' ? () => undefined : gatewaySecrets(gatewayFolder(resolve(config.gateway), sources));
  const book = secretBook(findSecret({ ...sources, workload$, gateway }));
  const outputs$ = workload$.pipe(
    ofType('set'),
    filter((reading) => config.output !== '' && isWhole(reading)),
    concatMap(({ set }) => writeSet(resolve(config.output), set)),
    filter((reason) => reason !== undefined),
    map((reason): SecretsEvent => ({ type: 'not-written', path: config.output, reason })),
  );
  const events$ = merge(
    failures$, // first: what fails on subscribe is told too
    signs$.pipe(filter(isCaEvent), map((event): SecretsEvent => ({ type: 'ca', event }))), // prettier-ignore
    book.changes$.pipe(map((state): SecretsEvent => ({ type: 'secret', state }))),
    isAtHand ? merge(merge(book.get('ROOTCA'), book.get('default')).pipe(ignoreElements()), outputs$).pipe(asPart('secrets')) : EMPTY,
    sdsServer(socket, book).pipe(
      asServer('sds', { listening: 'listening', failed: 'failed' }),
      map((event): SecretsEvent => {
        if (event.type === 'stream-failed') return partFailed('sds', event.error, 0);
        return event.type === 'part-failed' ? event : { type: 'sds', event };
      }),
    ),
  );
  return events$.pipe(
    connect((shared$) =>
      merge(
        shared$.pipe(
          scan(count, none),
          startWith(none),
          distinctUntilChanged(),
          map((counts): ServersSign => ({ type: 'servers-measured', server: 'secrets', families: () => families(book.states(), counts) })),
        ),
        shared$.pipe(
          scan(know, nothing),
          concatMap(({ event, troubles, isNews, isOld }) => [
            ...(isOld ? [] : narrate(event).map(logged)),
            ...(isNews ? [{ type: 'secrets-troubled', troubles: listTroubles(troubles) } as const] : []),
            ...outcome(event),
          ]),
        ),
      ),
    ),
  );
}

/** What happens with the secrets, at their sources and on their way to Envoy. */
type SecretsEvent =
  | { readonly type: 'ca'; readonly event: CaEvent }
  | { readonly type: 'secret'; readonly state: SecretState }
  | { readonly type: 'not-written'; readonly path: string; readonly reason: string }
  | { readonly type: 'sds'; readonly event: SdsEvent }
  | PartFailed;

interface Counts {
  readonly sds: SdsCounts;
  readonly ca: CaCounts;
}

const none: Counts = { sds: noSds, ca: noCa };

function count(counts: Counts, happened: SecretsEvent): Counts {
  if (happened.type === 'ca') return { ...counts, ca: countCa(counts.ca, happened.event) };
  if (happened.type === 'sds') return { ...counts, sds: countSds(counts.sds, happened.event) };
  return counts;
}

interface Known {
  readonly event: SecretsEvent;
  readonly troubles: SecretTroubles;
  /** Something else is wrong than before. */
  readonly isNews: boolean;
  /** It was told before. */
  readonly isOld: boolean;
}

const nothing: Known = { event: { type: 'sds', event: { type: 'listening' } }, troubles: noTroubles, isNews: false, isOld: false };

/** What has happened last, and what is wrong since. */
function know({ troubles: before }: Known, event: SecretsEvent): Known {
  const troubles =
    event.type === 'secret' ? afterState(before, event.state) : event.type === 'sds' ? afterSds(before, event.event) : before;
  const isNews = troubles !== before && !isDeepStrictEqual(listTroubles(troubles), listTroubles(before));
  return { event, troubles, isNews, isOld: event.type === 'sds' && wasTold(before, event.event) };
}

function families(states: readonly SecretState[], { sds, ca }: Counts): readonly MetricFamily[] {
  return [...secretFamilies(states, asyncScheduler.now()), ...sdsFamilies(sds), ...caFamilies(ca)];
}

function narrate(happened: SecretsEvent): readonly LogLine[] {
  switch (happened.type) {
    case 'part-failed':
      return [];
    case 'ca':
      return [narrateCa(happened.event)];
    case 'secret':
      return narrateSecret(happened.state);
    case 'not-written': {
      const { path, reason } = happened;
      return [{ level: 'error', event: 'secret.not_written', msg: 'secrets could not be written', path, reason }];
    }
    case 'sds':
      return narrateSds(happened.event);
  }
}

function logged(line: LogLine): ServersSign {
  return { type: 'servers-log', line: { component: 'secrets', ...line } };
}

/** What becomes of the server. */
function outcome(happened: SecretsEvent): readonly (ServersSign | PartFailed)[] {
  if (happened.type === 'part-failed') return [happened];
  if (happened.type !== 'sds') return [];
  const { event } = happened;
  if (event.type === 'failed') return [{ type: 'servers-failed', exit: 'unavailable', reason: `the socket for secrets: ${event.reason}` }];
  return event.type === 'listening' ? [{ type: 'servers-listening' }] : [];
}

function isCaEvent(sign: SetReading | CaEvent): sign is CaEvent {
  return sign.type === 'issued' || sign.type === 'request-failed';
}
