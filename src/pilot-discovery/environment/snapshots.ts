import {
  connect,
  filter,
  map,
  merge,
  type Observable,
  scan,
  type SchedulerLike,
  skip,
  skipWhile,
  take,
} from 'rxjs';
import type { Environment, GatewayClusters } from './environment.ts';
import { buildEnvironment } from './build-environment.ts';
import { inWindows, type WindowOptions } from './window.ts';
import type { Changes } from './changes.ts';
import { emptyStore, isSynced, reduceStore, type Store } from './store.ts';
import type { StoreEvent } from './store-event.ts';

/** The configuration that proxies receive at one time. */
export interface Snapshot {
  /** From 1; a newer one has a greater number. */
  readonly number: number;
  readonly environment: Environment;
  /** Whether any source has ever had a resource. */
  readonly content: Store['content'];
  /** Since the snapshot before. */
  readonly changes: Changes;
  /** When its first change arrived, when it was due, and when it was built: ms since 1970. */
  readonly changedAt: number;
  readonly dueAt: number;
  readonly builtAt: number;
}

/** The settings of an environment, besides the content of the sources. */
export interface EnvironmentSettings {
  /** Completes names of hosts without a dot. */
  readonly domain: string;
  readonly gatewayClusters: GatewayClusters;
}

/** A source has emitted an event. */
export interface StoreStep {
  readonly type: 'source-event';
  readonly event: StoreEvent;
  readonly changes: Changes;
  readonly store: Store;
}

export interface Built {
  readonly type: 'built';
  readonly snapshot: Snapshot;
}

/**
 * Folds the events of the sources into a store, and makes snapshots of it. The first snapshot
 * follows at once when all sources are synced, later ones are made in windows. Also emits each step
 * of the store. Cold; completes and errors with its source.
 */
export function snapshots(
  sources: readonly string[],
  settings: EnvironmentSettings,
  window: WindowOptions,
  scheduler: SchedulerLike,
): (event$: Observable<StoreEvent>) => Observable<StoreStep | Built> {
  return (event$) =>
    event$.pipe(
      scan((before: StoreStep | undefined, event: StoreEvent): StoreStep | undefined => {
        const [store, changes] = reduceStore(before?.store ?? emptyStore(sources), event);
        return { type: 'source-event', event, changes, store };
      }, undefined),
      filter((sign) => sign !== undefined),
      connect((step$) => {
        const first$ = step$.pipe(
          filter(({ store }) => isSynced(store)),
          take(1),
          map(({ store }): Due => ({
            type: 'due',
            store,
            changes: { class: 'mesh', keys: new Set() },
          })),
        );
        const later$ = step$.pipe(
          skipWhile(({ store }) => !isSynced(store)),
          skip(1),
          map(({ store, changes }) => [store, changes] as const),
          inWindows(window, scheduler),
          map(([store, changes]): Due => ({ type: 'due', store, changes })),
        );
        return merge(step$, first$, later$).pipe(
          scan(
            (before: Step, sign: StoreStep | Due) =>
              next(before, sign, settings, () => scheduler.now()),
            { number: 0 },
          ),
          map(({ sign }) => sign),
          filter((sign) => sign !== undefined),
        );
      }),
    );
}

/** A snapshot is due. */
interface Due {
  readonly type: 'due';
  readonly store: Store;
  readonly changes: Changes;
}

interface Step {
  readonly number: number;
  readonly environment?: Environment;
  /** When the first change arrived that is not in a snapshot yet. */
  readonly changedAt?: number;
  readonly sign?: StoreStep | Built;
}

function next(
  before: Step,
  sign: StoreStep | Due,
  { domain, gatewayClusters }: EnvironmentSettings,
  clock: () => number,
): Step {
  const now = clock();
  if (sign.type === 'source-event') {
    const isChange = sign.changes.class !== 'none' && before.changedAt === undefined;
    return { ...before, sign, ...(isChange && { changedAt: now }) };
  }
  const { store, changes } = sign;
  const environment = buildEnvironment(before.environment, store, changes, domain, gatewayClusters);
  const number = before.number + 1;
  const snapshot = {
    number,
    environment,
    content: store.content,
    changes,
    changedAt: before.changedAt ?? now,
    dueAt: now,
    builtAt: clock(),
  };
  return { number, environment, sign: { type: 'built', snapshot } };
}
