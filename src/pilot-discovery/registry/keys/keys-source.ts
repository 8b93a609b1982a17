// Why: docs/decisions/088-the-control-plane-fetches-keys.md
import { isDeepStrictEqual } from 'node:util';
import {
  connect,
  distinctUntilChanged,
  filter,
  map,
  merge,
  mergeMap,
  type Observable,
  observeOn,
  pairwise,
  scan,
  type SchedulerLike,
  skip,
  startWith,
  switchMap,
  take,
  takeUntil,
  timer,
} from 'rxjs';
import { quiesce } from '../../../operators/quiesce.ts';
import { unreachable } from '../../../operators/tagged-union.ts';
import { SortedMap } from '../../../shared/maps/sorted-map.ts';
import type { FetchedKeys } from '../../environment/fetched-keys.ts';
import type { StoreEvent } from '../../environment/store-event.ts';
import type { Flaw } from '../../istio/documents/model.ts';
import type { KeysAddress } from '../../istio/security/token-rule.ts';
import type { FetchKeys, KeysAnswer } from './fetch-keys.ts';
import { followKeys } from './follow-keys.ts';

/** The name of this source. */
export const keysSourceName = 'keys';

/** Keys that a rule needs. */
export interface WantedKeys {
  readonly from: KeysAddress;
  /** The resources with such a rule, each with the place of the rule. */
  readonly users: readonly Pick<Flaw, 'key' | 'origin' | 'field'>[];
}

/** A request to this source. */
export interface KeysRequest {
  /** The wanted keys, by `keysId`. */
  readonly wanted: ReadonlyMap<string, WantedKeys>;
  /** Whether the other sources have emitted everything that they had at the start. */
  readonly others: 'synced' | 'reading';
}

type Sign =
  | { readonly type: 'request'; readonly request: KeysRequest }
  | { readonly type: 'fetched'; readonly id: string; readonly result: KeysAnswer }
  /** The other sources were synced a while ago. */
  | { readonly type: 'overdue' };

/** How long the other sources are synced until this one is synced without all keys, in ms. */
const patience = 10_000;
/** Flaws are emitted after `quiet` without a further one, or `most` after the first. In ms. */
const gather = { quiet: 50, most: 1_000 };

interface FetchState {
  /** The last keys that could be fetched. */
  readonly keys: string | undefined;
  /** Why the last fetch failed. */
  readonly failure: string | undefined;
}

interface State {
  readonly request: KeysRequest;
  /** By `keysId`, once the first fetch has succeeded or failed. */
  readonly fetchStates: SortedMap<FetchState>;
  readonly keys: FetchedKeys;
  /** By `keysId`. */
  readonly flaws: SortedMap<readonly Flaw[]>;
  readonly isSynced: boolean;
  /** The events of the last sign, without those about flaws. */
  readonly events: readonly StoreEvent[];
}

const nothing: State = {
  request: { wanted: new Map(), others: 'reading' },
  fetchStates: SortedMap.empty(),
  keys: new Map(),
  flaws: SortedMap.empty(),
  isSynced: false,
  events: [],
};

/**
 * Fetches the keys that rules need: at once, then every 20 minutes. After a failure it tries again
 * soon, and the previous keys stay. It is synced once the other sources are synced and each address
 * was tried, or 10 s after the other sources: a slow issuer must not keep the whole mesh waiting.
 * Cold; never completes before `request$`, never errors.
 */
export function keysSource(
  request$: Observable<KeysRequest>,
  fetch$: FetchKeys,
  scheduler: SchedulerLike,
): Observable<StoreEvent> {
  return request$.pipe(
    connect((shared$) => {
      const wanted$ = shared$.pipe(
        map(({ wanted }) => wanted),
        distinctUntilChanged(),
      );
      const fetched$ = wanted$.pipe(
        startWith<KeysRequest['wanted']>(new Map()),
        pairwise(),
        mergeMap(([before, now]) => [...now].filter(([id]) => !before.has(id))),
        mergeMap(([id, { from }]) =>
          followKeys(from, fetch$, scheduler).pipe(
            map((result): Sign => ({ type: 'fetched', id, result })),
            takeUntil(wanted$.pipe(filter((wanted) => !wanted.has(id)))),
          ),
        ),
      );
      const overdue$ = shared$.pipe(
        filter(({ others }) => others === 'synced'),
        take(1),
        switchMap(() => timer(patience, scheduler)),
        map((): Sign => ({ type: 'overdue' })),
      );
      return merge(
        shared$.pipe(map((request): Sign => ({ type: 'request', request }))),
        fetched$,
        overdue$,
      );
    }),
    scan(reduceKeys, nothing),
    connect((state$) =>
      merge(
        state$.pipe(mergeMap(({ events }) => events)),
        state$.pipe(
          map(({ flaws }) => flaws),
          startWith(nothing.flaws),
          distinctUntilChanged(),
          skip(1),
          quiesce(gather.quiet, gather.most, (_, newest) => newest, scheduler),
          map((flaws): StoreEvent => {
            return { type: 'flaws', source: keysSourceName, flaws: [...flaws.values()].flat() };
          }),
        ),
      ),
    ),
    // The events of this source change the store, which emits `request$` again.
    observeOn(scheduler),
  );
}

/**
 * Returns the state after a sign. The cost of a fetch does not depend on the number of all
 * addresses: one RequestAuthentication may have thousands that all fail every 10 s.
 */
function reduceKeys(state: State, sign: Sign): State {
  switch (sign.type) {
    case 'request': {
      const { request } = sign;
      const gone = [...state.fetchStates.keys()].filter((id) => !request.wanted.has(id));
      const fetchStates = state.fetchStates.with(gone.map((id) => [id, undefined] as const));
      return afterSign(state, { request, fetchStates }, [...gone, ...request.wanted.keys()]);
    }
    case 'fetched': {
      const { id, result } = sign;
      const before = state.fetchStates.get(id);
      const after: FetchState = result.ok
        ? { keys: result.keys, failure: undefined }
        : { keys: before?.keys, failure: result.reason };
      if (isDeepStrictEqual(before, after)) return { ...state, events: [] };
      const fetchStates = state.fetchStates.with([[id, after]]);
      return afterSign(state, { request: state.request, fetchStates }, [id]);
    }
    case 'overdue':
      return afterSign(state, state, [], 'over');
    default:
      return unreachable(sign);
  }
}

/** Returns the state with the events; `ids`: the addresses whose keys or flaws may differ. */
function afterSign(
  before: State,
  { request, fetchStates }: Pick<State, 'request' | 'fetchStates'>,
  ids: readonly string[],
  wait: 'goes on' | 'over' = 'goes on',
): State {
  const keys = keysAfter(before.keys, fetchStates, ids);
  const flaws = before.flaws.with(
    ids.flatMap((id) => {
      const now = flawsOf(fetchStates.get(id), request.wanted.get(id)?.users ?? []);
      return isDeepStrictEqual(before.flaws.get(id) ?? [], now)
        ? []
        : [[id, now.length === 0 ? undefined : now] as const];
    }),
  );
  const isTried = wait === 'over' || fetchStates.size === request.wanted.size;
  const isSynced = before.isSynced || (request.others === 'synced' && isTried);
  const source = keysSourceName;
  const events: readonly StoreEvent[] = [
    ...(keys === before.keys ? [] : [{ type: 'fetched-keys', source, keys } as const]),
    ...(isSynced === before.isSynced ? [] : [{ type: 'synced', source } as const]),
  ];
  return { request, fetchStates, keys, flaws, isSynced, events };
}

function keysAfter(
  before: FetchedKeys,
  fetchStates: State['fetchStates'],
  ids: readonly string[],
): FetchedKeys {
  const changed = ids.filter((id) => before.get(id) !== fetchStates.get(id)?.keys);
  if (changed.length === 0) return before;
  const after = new Map(before);
  for (const id of changed) {
    const keys = fetchStates.get(id)?.keys;
    if (keys === undefined) after.delete(id);
    else after.set(id, keys);
  }
  return after;
}

function flawsOf(outcome: FetchState | undefined, users: WantedKeys['users']): readonly Flaw[] {
  if (outcome?.failure === undefined) return [];
  const consequence =
    outcome.keys === undefined
      ? 'each token of the issuer is refused'
      : 'the previous keys are used';
  const reason = `the keys cannot be fetched: ${outcome.failure.slice(0, 300)}; ${consequence}`;
  return users.map((user) => ({ ...user, reason, severity: 'warning' }));
}
