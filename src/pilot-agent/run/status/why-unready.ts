import { map, type Observable, of, switchMap, take, withLatestFrom } from 'rxjs';
import type { AdminClient } from '../../../proxy/admin-client.ts';
import { notReady } from '../../status/probe/readiness.ts';
import { askedAddress } from './make-report.ts';
import { withWaits } from './control-plane-notes.ts';
import { withCrash } from './crash-notes.ts';
import { secretUnready } from '../state/secret-troubles.ts';
import type { RunView } from '../state/view.ts';

/** Why an agent is not ready. Each emits once on subscribe: undefined if the agent is ready. */
export interface WhyUnready {
  readonly unready$: Observable<string | undefined>;
  /** Emits as `unready$` does, but ignores missing secrets. */
  readonly unserving$: Observable<string | undefined>;
}

/**
 * Checks the view of the run, which `view$` emits at once, and then Envoy.
 *
 * @param admin asks Envoy's admin endpoint; undefined if something else runs in the place of Envoy
 */
export function whyUnready(
  view$: Observable<RunView>,
  admin: Pick<AdminClient, 'request'> | undefined,
  timeoutMs: number | undefined,
): WhyUnready {
  const ready$ = notReady(view$.pipe(map(({ agent }) => agent)), admin, timeoutMs);
  const unserving$ = view$.pipe(
    take(1),
    switchMap(({ isBroken }) => (isBroken ? of('terminating: a bug') : ready$)),
  );
  const unready$ = unserving$.pipe(
    withLatestFrom(view$),
    map(([reason, { secrets, authority, xds, validConfig, past }]) =>
      reason === undefined
        ? secretUnready(secrets, authority)
        : withWaits(withCrash(reason, past), {
            authority,
            xds,
            address: askedAddress(validConfig),
          }),
    ),
  );
  return { unready$, unserving$ };
}
