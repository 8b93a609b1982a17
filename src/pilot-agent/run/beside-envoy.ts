import { isDeepStrictEqual } from 'node:util';
import {
  connect,
  defer,
  distinctUntilChanged,
  filter,
  map,
  merge,
  type MonoTypeOperatorFunction,
  type Observable,
  of,
  share,
  skip,
  switchMap,
  take,
  takeWhile,
} from 'rxjs';
import type { AgentConfig } from '../config/agent-config.ts';
import { ofType } from '../../operators/tagged-union.ts';
import { asServer, type PartFailed } from './state/part.ts';
import type { StsParts } from './secrets/run-sts.ts';
import type { SourceSecrets } from './sources/source-secrets.ts';
import type { SecretsPlan } from './secrets/secrets-plan.ts';
import type { Pair } from '../secrets/secret.ts';
import type { ServersSign } from './state/view.ts';
import type { ControlPlaneAddress } from '../xds-proxy/control-plane.ts';
import { reloadedTarget, type XdsPlan } from './secrets/xds-plan.ts';
import type { ConfigWithSources } from './start/shape-source.ts';

export interface ServerPlans {
  readonly secrets: SecretsPlan;
  /** Undefined if Envoy connects to the control plane itself. */
  readonly xds: XdsPlan | undefined;
  /** The configuration in effect: its control plane may differ from that of the start. */
  readonly validConfig$: Observable<ConfigWithSources>;
  /** The secrets that sources provide; undefined if no source can provide any. */
  readonly ofSources?: SourceSecrets | undefined;
}

/**
 * Runs the agent's servers for Envoy, if they are configured: xDS, secrets, and tokens. Reports as
 * {@link asOneServer}. A server is loaded only if it is configured, and is started again after an
 * error. If one cannot listen at the start, all stop. Never errors.
 */
export function besideEnvoy(
  { secrets: plan, xds, validConfig$, ofSources }: ServerPlans,
  config: AgentConfig,
  sts: StsParts,
): Observable<ServersSign | PartFailed> {
  const target$ = validConfig$.pipe(
    map(({ config: currentConfig }) => reloadedTarget(currentConfig, plan)),
    filter((target) => target !== undefined),
    distinctUntilChanged<ControlPlaneAddress>(isDeepStrictEqual),
  );
  // The certificate that an authority issued. The agent shows it to the control plane.
  let pair: Pair | undefined;
  const names = { listening: 'servers-listening', failed: 'servers-failed' } as const;
  const notAsked$ = of<ServersSign>({ type: 'servers-listening' });
  const controlPlane$ = defer(() => xds$).pipe(
    ofType('xds-changed'),
    filter((sign) => sign.xds.isAnswering),
  );
  const secrets$ = defer(() => import('./secrets/run-secrets.ts')).pipe(
    switchMap((module) =>
      module.runSecrets(plan, config, {
        issued: (issued) => (pair = issued),
        controlPlane$,
        ofSources,
      }),
    ),
    asServer('secrets', names),
  );
  const tokens$ = defer(() => import('./secrets/run-sts.ts')).pipe(
    switchMap((module) => module.runSts(config, sts)),
    asServer('sts', names),
  );
  const xds$: Observable<ServersSign | PartFailed> =
    xds === undefined
      ? notAsked$
      : defer(() => import('./secrets/run-xds.ts')).pipe(
          switchMap((module) =>
            module.runXds(xds, target$, () => (plan.workload.kind === 'files' ? undefined : pair)),
          ),
          asServer('xds', names),
          share(),
        );
  return asOneServer([
    xds$,
    plan.serving.kind === 'off' ? notAsked$ : secrets$,
    config.stsPort > 0 ? tokens$ : notAsked$,
  ]);
}

/**
 * Merges the signs of several servers. Emits `servers-listening` once, when all servers listen.
 * Completes after the first server that fails, and stops the others. Cold; errors if a server does.
 */
export function asOneServer(
  servers: readonly Observable<ServersSign | PartFailed>[],
): Observable<ServersSign | PartFailed> {
  return merge(...servers.map((server$) => server$.pipe(listeningOnce(0)))).pipe(
    listeningOnce(servers.length - 1),
    takeWhile(({ type }) => type !== 'servers-failed', true),
  );
}

/** Drops the first `first` signs that a server listens, passes the next one, and drops the rest. */
function listeningOnce(first: number): MonoTypeOperatorFunction<ServersSign | PartFailed> {
  return connect((signs$) =>
    merge(
      signs$.pipe(filter(({ type }) => type !== 'servers-listening')),
      signs$.pipe(ofType('servers-listening'), skip(first), take(1)),
    ),
  );
}
