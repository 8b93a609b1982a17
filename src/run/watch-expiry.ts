import { resolve } from 'node:path';
import { asyncScheduler, distinctUntilChanged, filter, ignoreElements, map, type Observable, tap } from 'rxjs';
import type { AgentState } from '../agent/model.ts';
import type { Happening } from '../agent/timeline.ts';
import type { LogLine } from '../log/log-line.ts';
import { certificateExpiry } from '../streams/certificate-expiry.ts';

interface ExpiryOptions {
  readonly log: (line: LogLine) => void;
  readonly keep: (happening: Happening) => void;
}

/** Looks at the certificates of `pairs` with each epoch that is LIVE: keeps when they expire, and warns once they have. Never emits. */
export function watchExpiry(
  pairs: readonly { readonly chain: string }[],
  state$: Observable<AgentState>,
  { log, keep }: ExpiryOptions,
): Observable<never> {
  const live$ = state$.pipe(
    map(({ epochs }) => [...epochs].findLast(([, { stage }]) => stage === 'live')?.[0]),
    distinctUntilChanged(),
    filter((epoch) => epoch !== undefined),
  );
  return certificateExpiry(
    pairs.map(({ chain }) => resolve(chain)),
    live$,
  ).pipe(
    tap((sign) => {
      if (sign.type === 'certificates-read') keep({ ...sign, at: asyncScheduler.now() });
      else
        log({
          level: 'warn',
          event: 'certificate.expired',
          msg: 'a certificate has expired that is served',
          component: 'agent',
          path: sign.certificate.path,
        });
    }),
    ignoreElements(),
  );
}
