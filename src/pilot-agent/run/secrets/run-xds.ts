import { isDeepStrictEqual } from 'node:util';
import {
  asyncScheduler,
  BehaviorSubject,
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
  type OperatorFunction,
  scan,
  skip,
  startWith,
  Subject,
  takeWhile,
  tap,
} from 'rxjs';
import { line, type LogLine } from '../../../shared/log/log-line.ts';
import { span } from '../../../shared/log/span.ts';
import { ofType } from '../../../operators/tagged-union.ts';
import {
  controlPlane,
  type ControlPlaneAddress,
  type LinkEvent,
} from '../../xds-proxy/control-plane.ts';
import type { LastGood } from '../../xds-proxy/last-good.ts';
import { store } from '../../xds-proxy/store.ts';
import {
  firstSummary,
  isSameSummary,
  narrateXds,
  summary,
  type XdsSummary,
} from '../../xds-proxy/relay-telemetry.ts';
import { countXds, noXds, xdsFamilies } from '../../xds-proxy/xds-counts.ts';
import { type RelayTransition, xdsRelay } from '../../xds-proxy/xds-relay.ts';
import { type XdsServerEvent, xdsServer } from '../../xds-proxy/xds-server.ts';
import type { Pair } from '../../secrets/secret.ts';
import type { ServersSign } from '../state/view.ts';
import { serversLog } from './servers-log.ts';
import type { XdsPlan } from './xds-plan.ts';

const logged = serversLog('xds');

/**
 * Runs the xDS proxy: emits once that it listens, or why it cannot, and serves until it is
 * unsubscribed. Emits the state of the control plane, its metrics, and its log lines. Cold; never
 * completes. Errors only because of a bug.
 *
 * @param target$ emits the address of the control plane, at once and when it changes
 * @param issued returns the pair that an authority has issued, if there is one
 */
export function runXds(
  { socket, store: path, nodeId, maxAge, ...plan }: XdsPlan,
  target$: Observable<ControlPlaneAddress>,
  issued: () => Pair | undefined,
): Observable<ServersSign> {
  return defer(() => {
    const current$ = new BehaviorSubject(plan.target);
    const storeOf = () => store(path, nodeId, current$.value.address);
    const written$ = new Subject<string | undefined>();
    const read = storeOf().read();
    const { stored, ignored } = usable(read.kind === 'good' ? read.good : undefined, maxAge);
    const why = read.kind === 'ignored' ? read.reason : ignored;
    const line$ =
      why === undefined ? EMPTY : of(logged(line('xds.store_ignored', { path, reason: why })));
    const write = (good: LastGood) => {
      written$.next(storeOf().write(good));
    };
    const stored$ = written$.pipe(narrateWrites(path), map(logged));
    const served$ = xdsServer(socket).pipe(
      connect((event$: Observable<XdsServerEvent>) => {
        const call$ = event$.pipe(
          ofType('called'),
          map(({ call }) => call),
        );
        const relayed$ = xdsRelay({
          ...{ call$, stored, write, maxAge, random: Math.random },
          connect$: (variant, question$) => {
            const { tls, ...plain } = current$.value;
            const moved$ = current$.pipe(
              skip(1),
              map(({ address }): LinkEvent => ({
                type: 'lost',
                reason: `it is at ${address} now`,
              })),
            );
            return merge(
              controlPlane({ ...plain, tls: tls && { ...tls, issued } }, variant, question$),
              moved$,
            ).pipe(takeWhile(({ type }) => type !== 'lost', true));
          },
        });
        return merge(
          signs(relayed$, () => current$.value.address, maxAge),
          event$.pipe(
            filter((event) => event.type !== 'called'),
            concatMap((event) => outcome(event, socket)),
          ),
        );
      }),
    );
    const moving$ = target$.pipe(
      filter((target) => !isDeepStrictEqual(target, current$.value)),
      tap((target) => current$.next(target)),
      ignoreElements(),
    );
    return merge(line$, stored$, served$, moving$);
  });
}

function usable(
  good: LastGood | undefined,
  maxAge: number,
): { readonly stored?: LastGood; readonly ignored?: string } {
  if (good === undefined) return {};
  if (maxAge === 0) return { ignored: '--xdsStoreMaxAge is 0' };
  const age = asyncScheduler.now() - good.confirmedAt;
  return age > maxAge
    ? { ignored: `it is ${span(age)} old, and --xdsStoreMaxAge is ${span(maxAge)}` }
    : { stored: good };
}

/** Emits the signs for the transitions of the relay. */
function signs(
  transition$: Observable<RelayTransition>,
  address: () => string,
  maxAge: number,
): Observable<ServersSign> {
  const none = {
    counts: noXds,
    summary: firstSummary(address()),
  };
  return transition$.pipe(
    connect((shared$) => {
      const validConfig$ = shared$.pipe(
        scan(
          (before, transition) => ({
            counts: countXds(before.counts, transition),
            summary: summary(before.summary, address(), maxAge, transition),
          }),
          none,
        ),
        startWith(none),
        connect((both$) =>
          merge(
            both$.pipe(
              map(({ summary: xds }) => xds),
              distinctUntilChanged<XdsSummary>(isSameSummary),
              map((xds): ServersSign => ({ type: 'xds-changed', xds })),
            ),
            both$.pipe(
              map(({ counts, summary: xds }): ServersSign => {
                return {
                  type: 'servers-measured',
                  server: 'xds',
                  families: () => xdsFamilies(counts, xds, asyncScheduler.now()),
                };
              }),
            ),
          ),
        ),
      );
      return merge(
        validConfig$,
        shared$.pipe(concatMap((transition) => narrateXds(address(), transition).map(logged))),
      );
    }),
  );
}

function outcome(
  event: Exclude<XdsServerEvent, { type: 'called' }>,
  socket: string,
): readonly ServersSign[] {
  if (event.type === 'failed')
    return [
      {
        type: 'servers-failed',
        exit: 'unavailable',
        reason: `the socket for xDS: ${event.reason}`,
      },
    ];
  if (event.type === 'not-taken')
    return [logged(line('connection.not_taken', { server: socket, reason: event.reason }))];
  return [logged(line('xds.listening')), { type: 'servers-listening' }];
}

/**
 * Emits a log line each time that the reason why the store cannot be written changes. A first
 * success is not logged.
 */
export function narrateWrites(path: string): OperatorFunction<string | undefined, LogLine> {
  return (written$) =>
    written$.pipe(
      startWith(undefined),
      distinctUntilChanged(),
      skip(1),
      map((reason) =>
        reason === undefined
          ? line('xds.stored', { path })
          : line('xds.store_failed', { path, reason }),
      ),
    );
}
