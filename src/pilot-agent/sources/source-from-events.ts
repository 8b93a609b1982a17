import {
  concatMap,
  filter,
  map,
  merge,
  mergeMap,
  type Observable,
  of,
  scan,
  type SchedulerLike,
  startWith,
  take,
} from 'rxjs';
import { sharedState } from '../../operators/shared-state.ts';
import type { SourceChange } from '../../streams/config-source.ts';
import type { ContributedReading, ContributingSource, Contribution } from './contribution.ts';

/** A sign of a source, or one of its readings. */
export type SourceOutput =
  SourceChange | { readonly type: 'reading'; readonly reading: ContributedReading };

/**
 * Emits a reading of the source at once and after each change, and every sign of the source except
 * `ready` and `changed`. As cold as the source; never ends.
 */
export function follow({ changes$, reading$ }: ContributingSource): Observable<SourceOutput> {
  const read$ = reading$.pipe(map((reading): SourceOutput => ({ type: 'reading', reading })));
  const later$ = changes$.pipe(
    concatMap((sign): Observable<SourceOutput> =>
      sign.type === 'ready' || sign.type === 'changed' ? read$ : of(sign),
    ),
  );
  return merge(read$, later$);
}

interface LastReading {
  readonly reading: ContributedReading | undefined;
  readonly signs: readonly SourceChange[];
}

/** The options of {@link sourceFromEvents}. */
interface FromEventsOptions extends Pick<ContributingSource, 'names'> {
  readonly scheduler: SchedulerLike;
}

/**
 * Returns a source whose reading is the last one that `events$` emitted. Subscribes to `events$`
 * once for all subscribers, and only while there is one. `reading$` waits for the first reading. A
 * reading whose hash differs from the previous one is a change.
 */
export function sourceFromEvents(
  events$: Observable<SourceOutput>,
  { names, scheduler }: FromEventsOptions,
): ContributingSource {
  function next({ reading: before }: LastReading, event: SourceOutput): LastReading {
    if (event.type !== 'reading')
      return { reading: before && withStatus(before, event), signs: [event] };
    return {
      reading: event.reading,
      signs: before?.hash === event.reading.hash ? [] : changes(before, event.reading),
    };
  }
  const { state$, later$ } = sharedState(
    events$.pipe(scan(next, { reading: undefined, signs: [] })),
    scheduler,
  );
  return {
    ...(names !== undefined && { names }),
    changes$: later$.pipe(
      mergeMap(({ signs }) => signs),
      startWith({ type: 'ready' } as const),
    ),
    reading$: state$.pipe(
      map(({ reading }) => reading),
      filter((reading) => reading !== undefined),
      take(1),
    ),
  };
}

/**
 * Returns the signs of a change: one, or two if one changed part has its own window and another has
 * none.
 */
function changes(
  before: ContributedReading | undefined,
  { config = [] }: ContributedReading,
): readonly SourceChange[] {
  const changed = config.filter(
    (contribution, place) => contribution.hash !== before?.config?.[place]?.hash,
  );
  const [gathered, others] = [
    changed.filter(isGathered),
    changed.filter((contribution) => !isGathered(contribution)),
  ];
  return [
    ...(gathered.length > 0 ? [changeOf(gathered)] : []),
    ...(others.length > 0 || gathered.length === 0 ? [changeOf(others)] : []),
  ];
}

function isGathered(contribution: Contribution): boolean {
  return contribution.isGathered === true;
}

function changeOf(changed: readonly Contribution[]): SourceChange {
  const [first] = changed.filter(({ use }) => use !== 'secret');
  const isPushed = changed.length > 0 && first === undefined;
  const { source } = first ?? changed[0] ?? {};
  return {
    type: 'changed',
    ...(source !== undefined && { source }),
    ...(isPushed && { isPushed }),
    ...(changed.some(isGathered) && { isGathered: true }),
  };
}

/**
 * Returns the reading after a sign of its source: the last reading decides whether the source has
 * trouble.
 */
function withStatus(reading: ContributedReading, sign: SourceChange): ContributedReading {
  if (sign.type !== 'source-read' && sign.type !== 'source-unreadable') return reading;
  const trouble = sign.type === 'source-unreadable' ? sign.reason : undefined;
  return {
    ...reading,
    config: reading.config?.map((contribution) =>
      contribution.source === sign.source ? { ...contribution, trouble } : contribution,
    ),
  };
}
