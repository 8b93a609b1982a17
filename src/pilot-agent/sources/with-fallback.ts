import {
  asyncScheduler,
  concatMap,
  map,
  merge,
  mergeMap,
  type Observable,
  scan,
  type SchedulerLike,
} from 'rxjs';
import type { SourceChange } from '../../streams/config-source.ts';
import { renamedReading } from './combinators.ts';
import type { ContributedReading, ContributingSource } from './contribution.ts';
import { sourceFromEvents, type SourceOutput } from './source-from-events.ts';

type Side = 'first' | 'fallback';

/** A sign of one of the two sources, with its reading at that time. */
interface SideReading {
  readonly side: Side;
  readonly sign: SourceChange | undefined;
  readonly reading: ContributedReading;
}

interface FallbackState {
  readonly first: ContributedReading | undefined;
  readonly fallback: ContributedReading | undefined;
  readonly outputs: readonly SourceOutput[];
}

/**
 * Uses the first source while it has content, and the fallback otherwise. If the first source keeps
 * its last content, the fallback is not used again.
 *
 * Subscribers see one source with one status: that of the source in use. If neither source is
 * composed of several, the status has the name of the first. While the fallback is in use, the
 * absence of the first source is not reported as trouble.
 */
export function withFallback(
  first: ContributingSource,
  fallback: ContributingSource,
  scheduler: SchedulerLike = asyncScheduler,
): ContributingSource {
  const events$ = merge(readingsOf('first', first), readingsOf('fallback', fallback)).pipe(
    scan(choose, { first: undefined, fallback: undefined, outputs: [] }),
    mergeMap(({ outputs: events }) => events),
  );
  const names = namesOf(first.names, fallback.names);
  return sourceFromEvents(events$, { ...(names !== undefined && { names }), scheduler });
}

/** If each of two sources has a single name, both use that of the first. */
function namesOf(
  first: ContributingSource['names'],
  fallback: ContributingSource['names'],
): ContributingSource['names'] {
  if (first?.length === 1 && fallback?.length === 1) return first;
  return first === undefined || fallback === undefined
    ? undefined
    : [...new Set([...first, ...fallback])];
}

function readingsOf(
  side: Side,
  { changes$, reading$ }: ContributingSource,
): Observable<SideReading> {
  const read = (sign?: SourceChange) =>
    reading$.pipe(map((reading): SideReading => ({ side, sign, reading })));
  return merge(read(), changes$.pipe(concatMap((sign) => read(sign))));
}

function choose(before: FallbackState, { side, sign, reading }: SideReading): FallbackState {
  const after = { ...before, [side]: reading };
  const { first, fallback } = after;
  if (first === undefined || fallback === undefined) return { ...after, outputs: [] };
  const serves: Side = hasContent(fallback) && !hasContent(first) ? 'fallback' : 'first';
  const name = onlyName(first);
  const isRenamed = serves === 'fallback' && name !== undefined && onlyName(fallback) !== undefined;
  const chosen = isRenamed ? renamedReading(fallback, name) : serves === 'first' ? first : fallback;
  const isStatus =
    sign?.type === 'source-read' ||
    sign?.type === 'source-unreadable' ||
    sign?.type === 'watch-failed';
  const status: readonly SourceOutput[] =
    !isStatus || side !== serves
      ? []
      : ['source' in sign && isRenamed ? { ...sign, source: name } : sign];
  return { ...after, outputs: [...status, { type: 'reading', reading: chosen }] };
}

function hasContent({ config = [] }: ContributedReading): boolean {
  return config.some(({ content }) => content !== undefined);
}

/** Returns the name of a source; undefined if it is composed of several. */
function onlyName({ config = [] }: ContributedReading): string | undefined {
  return config.length === 1 ? config[0]?.source : undefined;
}
