import {
  concatMap,
  distinctUntilChanged,
  filter,
  map,
  type Observable,
  skip,
  startWith,
  takeWhile,
} from 'rxjs';
import type { AgentConfig } from '../../config/agent-config.ts';
import type { ContributingSource, Contribution } from '../../sources/contribution.ts';

/**
 * Emits the sources that the first Envoy waits for, and why they cannot be read; emits again when
 * one of them changes. Finally emits an empty list, and completes. Emits nothing if Envoy does not
 * wait. Never errors.
 *
 * Envoy waits if its configuration comes from a source and none has been read yet, unless a custom
 * configuration can serve meanwhile.
 */
export function awaitedSources(
  { changes$, reading$ }: ContributingSource,
  { customConfigFile }: Pick<AgentConfig, 'customConfigFile'>,
): Observable<readonly string[]> {
  const missing$ = changes$.pipe(
    filter(({ type }) => type !== 'watch-failed'),
    startWith(undefined),
    concatMap(() => reading$),
    map(({ config = [] }) => (customConfigFile === '' ? missing(config) : [])),
  );
  return missing$.pipe(
    takeWhile((names) => names.length > 0, true),
    startWith([]),
    distinctUntilChanged((a, b) => a.join('\n') === b.join('\n')),
    skip(1),
  );
}

function missing(contributions: readonly Contribution[]): readonly string[] {
  const configurations = contributions.filter(({ use }) => use === 'envoy');
  if (configurations.some(({ content }) => content !== undefined)) return [];
  return configurations.map(
    ({ source, trouble = 'it has not been read yet' }) => `source ${source} (${trouble})`,
  );
}
