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
import { type Kind, keyOf, type ResourceKey } from '../istio/documents/model.ts';
import { reduceWithEffects, type Step } from '../../operators/reduce-with-effects.ts';
import {
  eachResource,
  namespaceKeyOf,
  noResources,
  partsOf,
  resourceAt,
  type Resources,
  withResources,
} from './resources.ts';
import type { StoreEvent } from './store-event.ts';

/** Removals of more than this number of a kind, and of more than half of it, are held back. */
const few = 10;

/** The kinds that declare services. */
const declaring: readonly Kind[] = ['ServiceEntry', 'Service', 'ConsulService'];

type Event =
  | { readonly type: 'received'; readonly event: StoreEvent }
  | { readonly type: 'confirmed' }
  /** The time of a hold is over. */
  | { readonly type: 'due'; readonly source: string; readonly turn: number };

interface Await {
  readonly source: string;
  readonly turn: number;
}

/** The resources of one source, and its removals that are held back. */
interface Source {
  readonly resources: Resources;
  readonly heldResources: Resources;
  /** The number of the hold: a timer of an earlier hold is ignored. */
  readonly turn: number;
}

interface State {
  readonly sources: ReadonlyMap<string, Source>;
  /** Whether the MeshConfig has `discoverySelectors`. */
  readonly namespaces: 'all' | 'selected';
  /** The events to emit as the result of the last event. */
  readonly emits: readonly StoreEvent[];
}

const unknown: Source = { resources: noResources, heldResources: noResources, turn: 0 };

/**
 * Holds back changes that remove too much at once: an empty folder is more often a failed mount
 * than intended. Such removals are emitted after `ms` or when `confirm$` emits, and never if the
 * resources come back. All other changes pass at once. If `ms` is 0, nothing is held back.
 */
export function holdRemovals(
  ms: number,
  confirm$: Observable<void>,
  scheduler: SchedulerLike,
): OperatorFunction<StoreEvent, StoreEvent> {
  if (ms === 0) return (event$) => merge(event$, confirm$.pipe(ignoreElements()));
  return (event$) =>
    merge(
      event$.pipe(map((event): Event => ({ type: 'received', event }))),
      confirm$.pipe(map((): Event => ({ type: 'confirmed' }))),
    ).pipe(
      reduceWithEffects<State, Event, Await>(
        { sources: new Map(), namespaces: 'all', emits: [] },
        reduceHolds,
        (await$) =>
          await$.pipe(
            mergeMap(({ source, turn }) =>
              timer(ms, scheduler).pipe(map((): Event => ({ type: 'due', source, turn }))),
            ),
          ),
      ),
      mergeMap(({ state }) => state.emits),
    );
}

function reduceHolds(state: State, event: Event): Step<State, Await> {
  switch (event.type) {
    case 'received':
      return afterEvent(state, event.event);
    case 'confirmed':
      return [[...state.sources.keys()].reduce(released, { ...state, emits: [] }), []];
    case 'due': {
      const isCurrent = state.sources.get(event.source)?.turn === event.turn;
      return [
        isCurrent ? released({ ...state, emits: [] }, event.source) : { ...state, emits: [] },
        [],
      ];
    }
  }
}

function afterEvent(state: State, event: StoreEvent): Step<State, Await> {
  if (event.type === 'changed') return changed(state, event);
  if (event.type !== 'mesh') return [{ ...state, emits: [event] }, []];
  const namespaces = event.mesh.discoverySelectors.length === 0 ? 'all' : 'selected';
  return [{ ...state, namespaces, emits: [event] }, []];
}

/** Returns the state after the held removals of a source are emitted. */
function released(state: State, name: string): State {
  const { resources, heldResources, turn } = state.sources.get(name) ?? unknown;
  if (heldResources.size === 0) return state;
  const removes = keysOf(heldResources);
  const left = without(resources, removes);
  return {
    ...state,
    sources: new Map(state.sources).set(name, {
      resources: left,
      heldResources: noResources,
      turn: turn + 1,
    }),
    emits: [
      ...state.emits,
      { type: 'changed', source: name, upserts: [], removes },
      { type: 'held', source: name, removes: [] },
    ],
  };
}

const isAt = (resources: Resources, key: ResourceKey): boolean =>
  resourceAt(resources, key) !== undefined;

const keysOf = (resources: Resources): readonly ResourceKey[] =>
  [...eachResource(resources)].map(([key]) => key);

const without = (resources: Resources, keys: Iterable<ResourceKey>): Resources =>
  withResources(resources, new Map([...keys].map((key) => [key, undefined])));

function changed(
  state: State,
  event: Extract<StoreEvent, { readonly type: 'changed' }>,
): Step<State, Await> {
  const before = state.sources.get(event.source) ?? unknown;
  const upserts = new Map(event.upserts.map((resource) => [keyOf(resource), resource]));
  const resources = withResources(before.resources, upserts);
  const gone = event.removes.filter((key) => !upserts.has(key) && isAt(resources, key));
  const stillHeld = without(before.heldResources, upserts.keys());
  const withGone = withResources(
    stillHeld,
    new Map(gone.map((key) => [key, resourceAt(resources, key)])),
  );
  const isMass = gone.length > 0 && takesTooMuch(resources, withGone);
  const byNumber = isMass ? withGone : stillHeld;
  const heldResources =
    state.namespaces === 'all' || isMass ? byNumber : withNamespaces(byNumber, resources, gone);
  const freed = gone
    .map((key) => namespaceKeyOf(partsOf(key).namespace))
    .filter((key) => isAt(stillHeld, key) && !isAt(heldResources, key));
  const removes = [...new Set([...event.removes, ...freed])].filter(
    (key) => !isAt(heldResources, key),
  );
  const left = without(
    resources,
    removes.filter((key) => !upserts.has(key)),
  );
  const [wasHolding, isHolding] = [before.heldResources.size > 0, heldResources.size > 0];
  const turn = wasHolding === isHolding ? before.turn : before.turn + 1;
  const passed: StoreEvent = { ...event, removes };
  return [
    {
      ...state,
      sources: new Map(state.sources).set(event.source, {
        resources: left,
        heldResources,
        turn,
      }),
      emits: [
        ...(event.upserts.length > 0 || removes.length > 0 ? [passed] : []),
        ...(heldResources === before.heldResources
          ? []
          : [{ type: 'held', source: event.source, removes: keysOf(heldResources) } as const]),
      ],
    },
    isHolding && !wasHolding ? [{ source: event.source, turn }] : [],
  ];
}

/**
 * Returns the held removals, corrected for Namespaces: the removal of a Namespace is held while it
 * has resources, and only then. Selectors decide by the Namespace, so its removal removes all
 * resources in it.
 */
function withNamespaces(
  heldResources: Resources,
  resources: Resources,
  gone: readonly ResourceKey[],
): Resources {
  const left = without(
    resources,
    gone.filter((key) => !isAt(heldResources, key)),
  );
  const hasResources = (key: ResourceKey): boolean =>
    [...left.values()].some((namespaces) => namespaces.has(partsOf(key).name));
  const removedNamespaces = gone.filter((key) => partsOf(key).kind === 'Namespace');
  const around = gone
    .map((key) => namespaceKeyOf(partsOf(key).namespace))
    .filter((key) => isAt(heldResources, key));
  return withResources(
    heldResources,
    new Map(
      [...removedNamespaces, ...around].map((key) => [
        key,
        hasResources(key) ? resourceAt(resources, key) : undefined,
      ]),
    ),
  );
}

/**
 * Returns whether the removals are too many: more than a few and more than half of a kind, or all
 * services of a namespace that has several. Its cost depends on the number of removals, not of
 * resources.
 */
function takesTooMuch(all: Resources, gone: Resources): boolean {
  for (const [kind, namespaces] of gone) {
    const number = countUpTo(namespaces.values(), Infinity);
    if (number > few && number * 2 > countUpTo(all.get(kind)?.values() ?? [], number * 2))
      return true;
  }
  const namespaces = new Set(declaring.flatMap((kind) => [...(gone.get(kind)?.keys() ?? [])]));
  const declared = (resources: Resources, namespace: string) =>
    declaring.reduce((count, kind) => count + (resources.get(kind)?.get(namespace)?.size ?? 0), 0);
  for (const namespace of namespaces) {
    const number = declared(gone, namespace);
    if (namespace !== '' && number > 1 && number === declared(all, namespace)) return true;
  }
  return false;
}

/** Counts the resources of a kind, up to a limit: then the result is the limit or more. */
function countUpTo(namespaces: Iterable<{ readonly size: number }>, limit: number): number {
  let count = 0;
  for (const { size } of namespaces) {
    if (count >= limit) break;
    count += size;
  }
  return count;
}
