import { isDeepStrictEqual } from 'node:util';
import {
  asapScheduler,
  distinctUntilChanged,
  filter,
  map,
  merge,
  type Observable,
  observeOn,
} from 'rxjs';
import type { AdminClient } from '../../proxy/admin-client.ts';
import type { AgentConfig } from '../config/agent-config.ts';
import { envoyLogLevels } from '../config/envoy-log-levels.ts';
import { certificateExpiry, type CertificateSign } from '../secrets/certificate-expiry.ts';
import { applyRuntime, type RuntimeSign, type RuntimeWish } from './sources/apply-runtime.ts';
import { certificateFiles } from './start/watched-files.ts';
import { asPart } from './state/part.ts';
import type { RunSign, RunView } from './state/view.ts';
import { envoyVersion } from './status/envoy-version.ts';

interface ServingParts {
  readonly admin: AdminClient;
  /** The path of Envoy's binary. */
  readonly binary: string;
  /** Returns a number from 0 up to, but not including, 1. */
  readonly random: () => number;
}

/**
 * Maintains and observes the Envoy that serves: its runtime, the certificates that it has read, its
 * version. Each of these is started again if it fails. Cold; never completes, never errors.
 */
export function servingEnvoy(
  config: AgentConfig,
  parts: ServingParts,
  view$: Observable<RunView>,
): Observable<RunSign> {
  const { admin, binary, random } = parts;
  // The admin endpoint of an epoch that is LIVE is published just after the view that says so.
  const later$ = view$.pipe(observeOn(asapScheduler));
  const epochs$ = later$.pipe(map(({ agent: { epochs } }) => epochs));
  return merge(
    runtime(config, parts, later$).pipe(asPart('sources', random)),
    expiry(config, view$).pipe(asPart('expiry', random)),
    envoyVersion(epochs$, admin, binary).pipe(asPart('status', random)),
  );
}

/** Sends settings to the Envoy that serves, if they need no new epoch. */
function runtime(
  config: AgentConfig,
  { admin, random }: ServingParts,
  view$: Observable<RunView>,
): Observable<RuntimeSign> {
  const wish$ = view$.pipe(
    map(({ agent: { epochs }, runtime: settings }) => ({ epoch: newestLive(epochs), settings })),
    filter((wish): wish is RuntimeWish => wish.epoch !== undefined),
    distinctUntilChanged(
      (a, b) => a.epoch === b.epoch && isDeepStrictEqual(a.settings, b.settings),
    ),
  );
  return applyRuntime(wish$, admin, envoyLogLevels(config), random);
}

/** Reports the expiry of the certificates in files that each Envoy serves. */
function expiry(config: AgentConfig, view$: Observable<RunView>): Observable<CertificateSign> {
  const live$ = view$.pipe(
    map(({ agent: { epochs } }) => newestLive(epochs)),
    distinctUntilChanged(),
    filter((epoch) => epoch !== undefined),
  );
  return certificateExpiry(certificateFiles(config), live$);
}

function newestLive(epochs: RunView['agent']['epochs']): number | undefined {
  return [...epochs].findLast(([, { stage }]) => stage === 'live')?.[0];
}
