// Why: docs/decisions/088-the-control-plane-fetches-keys.md
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
  startWith,
  switchMap,
  take,
  takeUntil,
  timer,
} from 'rxjs';
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

interface FetchState {
  /** The last keys that could be fetched. */
  readonly keys: string | undefined;
  /** Why the last fetch failed. */
  readonly failure: string | undefined;
}

interface State {
  readonly request: KeysRequest;
  /** By `keysId`, once the first fetch has succeeded or failed. */
  readonly fetchStates: ReadonlyMap<string, FetchState>;
  readonly keys: FetchedKeys;
  readonly flaws: readonly Flaw[];
  readonly isSynced: boolean;
  /** The events of the last sign. */
  readonly events: readonly StoreEvent[];
}

const nothing: State = {
  request: { wanted: new Map(), others: 'reading' },
  fetchStates: new Map(),
  keys: new Map(),
  flaws: [],
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
    mergeMap(({ events }) => events),
    // The events of this source change the store, which emits `request$` again.
    observeOn(scheduler),
  );
}

function reduceKeys(state: State, sign: Sign): State {
  const request = sign.type === 'request' ? sign.request : state.request;
  const outcomes = new Map([...state.fetchStates].filter(([id]) => request.wanted.has(id)));
  if (sign.type === 'fetched') {
    const { id, result } = sign;
    outcomes.set(
      id,
      result.ok
        ? { keys: result.keys, failure: undefined }
        : { keys: outcomes.get(id)?.keys, failure: result.reason },
    );
  }
  const fetched = new Map(
    [...outcomes].flatMap(([id, { keys }]) => (keys === undefined ? [] : [[id, keys] as const])),
  );
  const keys = isEqual(state.keys, fetched) ? state.keys : fetched;
  const currentFlaws = [...request.wanted].flatMap(([id, { users }]) =>
    flawsOf(outcomes.get(id), users),
  );
  const flaws =
    JSON.stringify(state.flaws) === JSON.stringify(currentFlaws) ? state.flaws : currentFlaws;
  const isTried =
    sign.type === 'overdue' || [...request.wanted.keys()].every((id) => outcomes.has(id));
  const isSynced = state.isSynced || (request.others === 'synced' && isTried);
  const source = keysSourceName;
  const events: readonly StoreEvent[] = [
    ...(keys === state.keys ? [] : [{ type: 'fetched-keys', source, keys } as const]),
    ...(flaws === state.flaws ? [] : [{ type: 'flaws', source, flaws } as const]),
    ...(isSynced === state.isSynced ? [] : [{ type: 'synced', source } as const]),
  ];
  return { request, fetchStates: outcomes, keys, flaws, isSynced, events };
}

const isEqual = (a: FetchedKeys, b: FetchedKeys): boolean =>
  a.size === b.size && [...a].every(([id, keys]) => b.get(id) === keys);

function flawsOf(outcome: FetchState | undefined, users: WantedKeys['users']): readonly Flaw[] {
  if (outcome?.failure === undefined) return [];
  const consequence =
    outcome.keys === undefined
      ? 'each token of the issuer is refused'
      : 'the previous keys are used';
  const reason = `the keys cannot be fetched: ${outcome.failure.slice(0, 300)}; ${consequence}`;
  return users.map((user) => ({ ...user, reason, severity: 'warning' }));
}
