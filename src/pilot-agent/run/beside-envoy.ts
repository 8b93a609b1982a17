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
import { type SecretsPlan, secretsPlan } from './secrets/secrets-plan.ts';
import type { Pair } from '../secrets/secret.ts';
import type { ServersSign } from './state/view.ts';
import type { ControlPlaneAddress } from '../xds-proxy/control-plane.ts';
import { type XdsPlan, xdsPlan } from './secrets/xds-plan.ts';
import type { KnownConfig } from './start/shape-source.ts';

export interface ServerPlans {
  readonly secrets: SecretsPlan;
  /** Undefined where Envoy asks the control plane itself. */
  readonly xds: XdsPlan | undefined;
  /** The configuration that holds: the control plane may be another one. */
  readonly known$: Observable<KnownConfig>;
  /** The secrets that sources give; undefined where none can. */
  readonly ofSources?: SourceSecrets | undefined;
}

/**
 * The servers that Envoy talks to beside the agent, as far as they are asked for: of xDS, of
 * secrets, and of tokens. As {@link asOneServer}. Each is loaded only if it runs, and started again
 * where it fails. Never errors.
 */
export function besideEnvoy(
  { secrets: plan, xds, known$, ofSources }: ServerPlans,
  config: AgentConfig,
  sts: StsParts,
): Observable<ServersSign | PartFailed> {
  const target$ = known$.pipe(
    map(({ config: known }) => xdsPlan(known, secretsPlan(known))?.target),
    filter((target) => target !== undefined),
    distinctUntilChanged<ControlPlaneAddress>(isDeepStrictEqual),
  );
  // For the control plane, which the agent shows what an authority has issued.
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
            module.runXds(xds, target$, () =>
              plan.workload.kind === 'authority' ? pair : undefined,
            ),
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
 * Emits what the servers tell as it comes, but that they listen only once, when all of them have.
 * Completes after the first that fails, and lets go of the others. Cold; errors as they do.
 */
export function asOneServer(
  servers: readonly Observable<ServersSign | PartFailed>[],
): Observable<ServersSign | PartFailed> {
  return merge(...servers.map((server$) => server$.pipe(listeningOnce(0)))).pipe(
    listeningOnce(servers.length - 1),
    takeWhile(({ type }) => type !== 'servers-failed', true),
  );
}

/** The first so many times that a server listens are left out, and all but the next one. */
function listeningOnce(first: number): MonoTypeOperatorFunction<ServersSign | PartFailed> {
  return connect((signs$) =>
    merge(
      signs$.pipe(filter(({ type }) => type !== 'servers-listening')),
      signs$.pipe(ofType('servers-listening'), skip(first), take(1)),
    ),
  );
}
