import {
  asyncScheduler,
  distinctUntilChanged,
  map,
  type Observable,
  type SchedulerLike,
  startWith,
} from 'rxjs';
import type { SourceConfig } from '../../config/source-config.ts';
import { ofType } from '../../../operators/tagged-union.ts';
import type { GatewaySource } from '../../secrets/gateway-secrets.ts';
import { secretReading } from '../../secrets/secret-data.ts';
import type { SetReading } from '../../secrets/secret.ts';
import type { ContributingSource, Contribution } from '../../sources/contribution.ts';
import { follow } from '../../sources/source-from-events.ts';

export interface SourceSecrets extends GatewaySource {
  /** Says whether the user configured a source for the secret of this name. */
  isNamed(name: string): boolean;
}

/**
 * Returns the secrets that sources provide (`as: secret`). Envoy requests one by the name of its
 * source, or by the part after its last `/`: `front` for `kube/Secret/default/front`. Undefined if
 * no source can provide one.
 *
 * @param hasOthers the program has sources that the user did not configure
 */
export function sourceSecrets(
  beside: ContributingSource,
  configured: readonly SourceConfig[],
  hasOthers: boolean,
  scheduler: SchedulerLike = asyncScheduler,
): SourceSecrets | undefined {
  if (!hasOthers && !configured.some(({ as }) => as === 'secret')) return undefined;
  const contributions$ = follow(beside).pipe(
    ofType('reading'),
    map(({ reading: { config = [] } }) => config),
  );
  return {
    isNamed: (name) =>
      configured.some(
        ({ as, name: source }) => as === 'secret' && isOf(name.replace(/-cacert$/, ''), source),
      ),
    secret: (name): Observable<SetReading> =>
      contributions$.pipe(
        map((contributions) =>
          contributions.findLast(
            (contribution) => contribution.use === 'secret' && isOf(name, contribution.source),
          ),
        ),
        startWith(undefined),
        distinctUntilChanged((a, b) => a?.hash === b?.hash && a?.trouble === b?.trouble),
        map((contribution) => readingOf(name, contribution, scheduler.now())),
      ),
  };
}

function isOf(secret: string, source: string): boolean {
  return source === secret || source.endsWith(`/${secret}`);
}

function readingOf(name: string, contribution: Contribution | undefined, now: number): SetReading {
  const place = `source ${contribution?.source ?? name}`;
  if (contribution?.content !== undefined)
    return secretReading(place, name, contribution.content, now);
  return {
    type: 'refused',
    source: place,
    reason: `${place}: ${contribution?.trouble ?? 'it has not been read yet'}`,
  };
}
