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
  scan,
  skip,
  startWith,
  Subject,
  takeWhile,
  tap,
} from 'rxjs';
import type { LogLine } from '../log/log-line.ts';
import { ofType } from '../operators/tagged-union.ts';
import { controlPlane, type ControlPlaneAddress, type LinkEvent } from '../xds/control-plane.ts';
import type { LastGood } from '../xds/last-good.ts';
import { initialRelay } from '../xds/relay-state.ts';
import { store } from '../xds/store.ts';
import { countXds, isSameSummary, narrateXds, noXds, span, summary, type XdsSummary, xdsFamilies } from '../xds/telemetry.ts';
import { type RelayTransition, xdsRelay } from '../xds/xds-relay.ts';
import { type XdsServerEvent, xdsServer } from '../xds/xds-server.ts';
import type { Pair } from '../secrets/secret.ts';
import type { ServersSign } from './view.ts';
import type { XdsPlan } from './xds-plan.ts';

/**
 * The xDS proxy: tells once when it listens, or why it cannot, and serves until it is unsubscribed.
 * Tells how it stands with the control plane, its metrics, and what there is to log. Cold; never
 * completes. Errors only by a bug.
 *
 * @param target$ where the control plane is: at once, and when it is another one
 * @param issued the pair that an authority has issued, if there is one
 */
export function runXds(
  { socket, store: path, nodeId, maxAge, ...plan }: XdsPlan,
  target$: Observable<ControlPlaneAddress>,
  issued: () => Pair | undefined,
): Observable<ServersSign> {
  return defer(() => {
    const current$ = new BehaviorSubject(plan.target);
    const storeOf = () => store(path, nodeId, current$.value.address);
    const failed$ = new Subject<string>();
    const read = storeOf().read();
    const { stored, ignored } = usable(read.kind === 'good' ? read.good : undefined, maxAge);
    const why = read.kind === 'ignored' ? read.reason : ignored;
    const line$ = why === undefined ? EMPTY : of(logged({ level: 'warn', event: 'xds.store_ignored', msg: 'the stored configuration is ignored', path, reason: why })); // prettier-ignore
    const write = (good: LastGood) => {
      const reason = storeOf().write(good);
      if (reason !== undefined) failed$.next(reason);
    };
    const unwritten$ = failed$.pipe(
      distinctUntilChanged(),
      map((reason) => logged({ level: 'warn', event: 'xds.store_failed', msg: 'the configuration cannot be stored for a restart', path, reason })), // prettier-ignore
    );
    const served$ = xdsServer(socket).pipe(
      connect((event$: Observable<XdsServerEvent>) => {
        const call$ = event$.pipe(ofType('called'), map(({ call }) => call)); // prettier-ignore
        const relayed$ = xdsRelay({
          ...{ call$, stored, write, maxAge, random: Math.random },
          connect$: (variant, question$) => {
            const { tls, ...plain } = current$.value;
            const moved$ = current$.pipe(skip(1), map(({ address }): LinkEvent => ({ type: 'lost', reason: `it is at ${address} now` }))); // prettier-ignore
            return merge(controlPlane({ ...plain, tls: tls && { ...tls, issued } }, variant, question$), moved$).pipe(
              takeWhile(({ type }) => type !== 'lost', true),
            );
          },
        });
        return merge(signs(relayed$, () => current$.value.address, maxAge), event$.pipe(filter((event) => event.type !== 'called'), concatMap(outcome))); // prettier-ignore
      }),
    );
    const moving$ = target$.pipe(
      filter((target) => !isDeepStrictEqual(target, current$.value)),
      tap((target) => current$.next(target)),
      ignoreElements(),
    );
    return merge(line$, unwritten$, served$, moving$);
  });
}

function usable(good: LastGood | undefined, maxAge: number): { readonly stored?: LastGood; readonly ignored?: string } {
  const age = good === undefined ? 0 : asyncScheduler.now() - good.confirmedAt;
  if (age > maxAge) return { ignored: `it is ${span(age)} old, and --xdsStoreMaxAge is ${span(maxAge)}` };
  return good === undefined ? {} : { stored: good };
}

/** What there is to tell of the transitions of the relay. */
function signs(transition$: Observable<RelayTransition>, address: () => string, maxAge: number): Observable<ServersSign> {
  const none = {
    counts: noXds,
    summary: summary(address(), maxAge, initialRelay, 0),
  };
  return transition$.pipe(
    connect((shared$) => {
      const known$ = shared$.pipe(
        scan(({ counts }, transition) => {
          const { state, event } = transition;
          return { counts: countXds(counts, transition), summary: summary(address(), maxAge, state, event.at) };
        }, none),
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
                return { type: 'servers-measured', server: 'xds', families: () => xdsFamilies(counts, xds, asyncScheduler.now()) };
              }),
            ),
          ),
        ),
      );
      return merge(known$, shared$.pipe(concatMap((transition) => narrateXds(address(), transition).map(logged))));
    }),
  );
}

function outcome(event: Exclude<XdsServerEvent, { type: 'called' }>): readonly ServersSign[] {
  if (event.type === 'failed') return [{ type: 'servers-failed', exit: 'unavailable', reason: `the socket for xDS: ${event.reason}` }];
  return [
    logged({ level: 'info', event: 'xds.listening', msg: 'Envoy takes its configuration from the agent' }),
    { type: 'servers-listening' },
  ];
}

function logged(line: LogLine): ServersSign {
  return { type: 'servers-log', line: { component: 'xds', ...line } };
}
