// Why: docs/decisions/081-mass-removals-are-held.md
import {
  ignoreElements,
  map,
  merge,
  mergeMap,
  type Observable,
  type OperatorFunction,
  type SchedulerLike,
  timer,
} from 'rxjs';
import { type Kind, keyOf, type ResourceKey } from '../istio/model.ts';
import { reduceWithEffects, type Step } from '../../operators/reduce-with-effects.ts';
import { partsOf } from './resources.ts';
import type { StoreEvent } from './store-event.ts';

/** Removals of more than this number of a kind, and of more than half of it, are held back. */
const few = 10;

/** The kinds that declare services. */
const declaring: readonly Kind[] = ['ServiceEntry', 'Service', 'ConsulService'];

type Event =
  | { readonly type: 'told'; readonly event: StoreEvent }
  | { readonly type: 'confirmed' }
  /** The time of a hold is over. */
  | { readonly type: 'due'; readonly source: string; readonly turn: number };

interface Await {
  readonly source: string;
  readonly turn: number;
}

/** The resources of one source, and its removals that are held back. */
interface Source {
  readonly keys: ReadonlySet<ResourceKey>;
  readonly held: ReadonlySet<ResourceKey>;
  /** The number of the hold: a timer of an earlier hold is ignored. */
  readonly turn: number;
}

interface State {
  readonly sources: ReadonlyMap<string, Source>;
  /** The events that follow from the last one. */
  readonly told: readonly StoreEvent[];
}

const unknown: Source = { keys: new Set(), held: new Set(), turn: 0 };

/**
 * Holds back changes that remove too much at once: an empty folder is more often a failed mount
 * than intended. Such removals follow after `ms`, when `confirm$` emits, or never if the resources
 * come back. All other changes pass at once. If `ms` is 0, nothing is held back.
 */
export function holdRemovals(
  ms: number,
  confirm$: Observable<void>,
  scheduler: SchedulerLike,
): OperatorFunction<StoreEvent, StoreEvent> {
  if (ms === 0) return (event$) => merge(event$, confirm$.pipe(ignoreElements()));
  return (event$) =>
    merge(
      event$.pipe(map((event): Event => ({ type: 'told', event }))),
      confirm$.pipe(map((): Event => ({ type: 'confirmed' }))),
    ).pipe(
      reduceWithEffects<State, Event, Await>(
        { sources: new Map(), told: [] },
        reduceHolds,
        (await$) =>
          await$.pipe(
            mergeMap(({ source, turn }) =>
              timer(ms, scheduler).pipe(map((): Event => ({ type: 'due', source, turn }))),
            ),
          ),
      ),
      mergeMap(({ state }) => state.told),
    );
}

function reduceHolds(state: State, event: Event): Step<State, Await> {
  switch (event.type) {
    case 'told':
      return event.event.type === 'changed'
        ? changed(state, event.event)
        : [{ ...state, told: [event.event] }, []];
    case 'confirmed':
      return [[...state.sources.keys()].reduce(released, { ...state, told: [] }), []];
    case 'due': {
      const isCurrent = state.sources.get(event.source)?.turn === event.turn;
      return [
        isCurrent ? released({ ...state, told: [] }, event.source) : { ...state, told: [] },
        [],
      ];
    }
  }
}

/** Returns the state after the held removals of a source are emitted. */
function released(state: State, name: string): State {
  const { keys, held: heldKeys, turn } = state.sources.get(name) ?? unknown;
  if (heldKeys.size === 0) return state;
  const left = new Set([...keys].filter((key) => !heldKeys.has(key)));
  return {
    sources: new Map(state.sources).set(name, { keys: left, held: new Set(), turn: turn + 1 }),
    told: [
      ...state.told,
      { type: 'changed', source: name, upserts: [], removes: [...heldKeys] },
      { type: 'held', source: name, removes: [] },
    ],
  };
}

function changed(
  state: State,
  event: Extract<StoreEvent, { readonly type: 'changed' }>,
): Step<State, Await> {
  const before = state.sources.get(event.source) ?? unknown;
  const there = new Set(event.upserts.map(keyOf));
  const isNews = (key: ResourceKey): boolean => !before.keys.has(key);
  if (before.held.size === 0 && event.removes.length === 0 && ![...there].some(isNews))
    return [{ ...state, told: event.upserts.length > 0 ? [event] : [] }, []];
  const gone = new Set(
    [...before.held, ...event.removes].filter((key) => before.keys.has(key) && !there.has(key)),
  );
  const isMass = takesTooMuch(new Set([...before.keys, ...there]), gone);
  const heldKeys = isMass
    ? gone
    : new Set<ResourceKey>([...before.held].filter((key) => gone.has(key)));
  const removes = event.removes.filter((key) => !heldKeys.has(key));
  const removed = new Set(removes);
  const keys = new Set([...before.keys, ...there].filter((key) => !removed.has(key)));
  const isFirst = before.held.size === 0 && heldKeys.size > 0;
  const turn =
    isFirst || (before.held.size > 0 && heldKeys.size === 0) ? before.turn + 1 : before.turn;
  const isSame =
    heldKeys.size === before.held.size && [...heldKeys].every((key) => before.held.has(key));
  const passed: StoreEvent = { ...event, removes };
  return [
    {
      sources: new Map(state.sources).set(event.source, { keys, held: heldKeys, turn }),
      told: [
        ...(event.upserts.length > 0 || removes.length > 0 ? [passed] : []),
        ...(isSame
          ? []
          : [{ type: 'held', source: event.source, removes: [...heldKeys] } as const]),
      ],
    },
    isFirst ? [{ source: event.source, turn }] : [],
  ];
}

/**
 * Returns whether the removals take more than half of a kind, and more than a few, or all services
 * of a namespace that has several.
 */
function takesTooMuch(keys: ReadonlySet<ResourceKey>, gone: ReadonlySet<ResourceKey>): boolean {
  if (gone.size === 0) return false;
  const count = (counted: ReadonlySet<ResourceKey>, groupOf: (key: ResourceKey) => string) => {
    const counts = new Map<string, number>();
    for (const key of counted) counts.set(groupOf(key), (counts.get(groupOf(key)) ?? 0) + 1);
    return counts;
  };
  const kindOf = (key: ResourceKey) => partsOf(key).kind;
  const kinds = count(keys, kindOf);
  for (const [kind, number] of count(gone, kindOf))
    if (number > few && number * 2 > (kinds.get(kind) ?? 0)) return true;
  const declares = (key: ResourceKey) =>
    declaring.includes(kindOf(key)) ? partsOf(key).namespace : '';
  const namespaces = count(keys, declares);
  for (const [namespace, number] of count(gone, declares))
    if (namespace !== '' && number > 1 && number === namespaces.get(namespace)) return true;
  return false;
}
