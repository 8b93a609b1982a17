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

/** What a source tells, and each of its readings as it is read. */
export type ToldBySource =
  SourceChange | { readonly type: 'reading'; readonly reading: ContributedReading };

/**
 * Emits a reading of the source at once and after each change, and beside them what the source
 * tells, but that something has changed. As cold as the source; never ends.
 */
export function follow({ changes$, reading$ }: ContributingSource): Observable<ToldBySource> {
  const read$ = reading$.pipe(map((reading): ToldBySource => ({ type: 'reading', reading })));
  const later$ = changes$.pipe(
    concatMap((sign): Observable<ToldBySource> =>
      sign.type === 'ready' || sign.type === 'changed' ? read$ : of(sign),
    ),
  );
  return merge(read$, later$);
}

interface Held {
  readonly reading: ContributedReading | undefined;
  readonly signs: readonly SourceChange[];
}

/** How a source is held. */
interface HeldOptions extends Pick<ContributingSource, 'names'> {
  readonly scheduler: SchedulerLike;
}

/**
 * A source whose reading is the last one that `told$` has emitted: it is followed once, however
 * many listen, and only while somebody does. Until there is one a reading waits. A reading with
 * another hash than the one before is a change.
 */
export function held(
  told$: Observable<ToldBySource>,
  { names, scheduler }: HeldOptions,
): ContributingSource {
  function next({ reading: before }: Held, told: ToldBySource): Held {
    if (told.type !== 'reading')
      return { reading: before && withStatus(before, told), signs: [told] };
    return {
      reading: told.reading,
      signs: before?.hash === told.reading.hash ? [] : changes(before, told.reading),
    };
  }
  const { state$, later$ } = sharedState(
    told$.pipe(scan(next, { reading: undefined, signs: [] })),
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

/** What has changed: one sign, or two where a part has a window of its own and another has none. */
function changes(
  before: ContributedReading | undefined,
  { config = [] }: ContributedReading,
): readonly SourceChange[] {
  const changed = config.filter((one, place) => one.hash !== before?.config?.[place]?.hash);
  const [gathered, others] = [
    changed.filter(isGathered),
    changed.filter((one) => !isGathered(one)),
  ];
  return [
    ...(gathered.length > 0 ? [changeOf(gathered)] : []),
    ...(others.length > 0 || gathered.length === 0 ? [changeOf(others)] : []),
  ];
}

function isGathered(one: Contribution): boolean {
  return one.isGathered === true;
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

/** The reading once its source has told something: its trouble is that of the last look at it. */
function withStatus(reading: ContributedReading, sign: SourceChange): ContributedReading {
  if (sign.type !== 'source-read' && sign.type !== 'source-unreadable') return reading;
  const trouble = sign.type === 'source-unreadable' ? sign.reason : undefined;
  return {
    ...reading,
    config: reading.config?.map((one) => (one.source === sign.source ? { ...one, trouble } : one)),
  };
}
