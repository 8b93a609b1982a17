import { type AnyResource, type Flaw, keyOf, type ResourceKey } from '../istio/documents/model.ts';
import { placeOf } from '../istio/documents/place-of.ts';
import { eachResource, partsOf, resourceAt, type Resources } from './resources.ts';
import { isUsed, keysIn } from './seen-namespaces.ts';
import type { SourceState, Store } from './store.ts';
import type { StoreEvent } from './store-event.ts';

/**
 * Returns the current flaws of all sources. Adds one for each resource that an earlier source has
 * too, and one if the selectors do not select the root namespace, which has the rules of the whole
 * mesh.
 */
export function flawsOf(store: Store): readonly Flaw[] {
  const { resources, sources } = store;
  return [
    ...[...sources.values()].flatMap((source) => [...source.flaws, ...unused(source, resources)]),
    ...unseenRoot(store),
  ];
}

/** The flaws that an event may have added or removed. */
export interface TouchedFlaws {
  readonly before: readonly Flaw[];
  readonly after: readonly Flaw[];
}

/**
 * Returns the flaws that an event may have added or removed, of those of {@link flawsOf}. The cost
 * is that of the event, unless it may select other namespaces. Pure.
 */
export function touchedFlaws(before: Store, after: Store, event: StoreEvent): TouchedFlaws {
  const flaws = (part: (store: Store) => Iterable<Flaw>): TouchedFlaws => ({
    before: [...part(before)],
    after: [...part(after)],
  });
  switch (event.type) {
    case 'changed': {
      const keys = [...event.removes, ...event.upserts.map(keyOf)];
      const mayTurn =
        after.mesh.discoverySelectors.length > 0 &&
        keys.some((key) => partsOf(key).kind === 'Namespace');
      return mayTurn ? flaws(flawsOf) : flaws((store) => unusedOrUnseen(store, keys));
    }
    case 'flaws': {
      const { source } = event;
      return flaws(({ sources }) => sources.get(source)?.flaws ?? []);
    }
    case 'mesh':
      return flaws(flawsOf);
    case 'networks':
    case 'fetched-keys':
    case 'synced':
    case 'held':
    case 'lost':
    case 'still-lost':
      return { before: [], after: [] };
  }
}

function* unusedOrUnseen(store: Store, keys: readonly ResourceKey[]): Generator<Flaw> {
  for (const key of new Set(keys))
    for (const { resources } of store.sources.values()) {
      const resource = resourceAt(resources, key);
      if (resource !== undefined) yield* unusedAt(key, resource, store.resources);
    }
  yield* unseenRoot(store);
}

function* unseenRoot({ sources, mesh, resources }: Store): Generator<Flaw> {
  const { rootNamespace, discoverySelectors: selectors } = mesh;
  if (selectors.length === 0) return;
  const unseen = [...sources.values()].flatMap((source) =>
    [...keysIn(source.resources, rootNamespace)].filter(
      (key) => !isUsed({ selectors, resources }, key),
    ),
  );
  if (unseen.length === 0) return;
  const reason = `it does not select the root namespace '${rootNamespace}', whose rules have no effect then: ${shownKeys(unseen)}`;
  const origin = { source: 'mesh', path: 'MeshConfig', line: 0 };
  yield { key: undefined, origin, field: 'discoverySelectors', reason, severity: 'warning' };
}

const shownKeys = ([first = '', ...others]: readonly ResourceKey[]): string =>
  others.length === 0 ? first : `${first} and ${others.length} more`;

function* unused(source: SourceState, used: Resources): Generator<Flaw> {
  if (source.resources === used) return;
  for (const [key, resource] of eachResource(source.resources))
    yield* unusedAt(key, resource, used);
}

function* unusedAt(key: ResourceKey, { origin }: AnyResource, used: Resources): Generator<Flaw> {
  const winner = resourceAt(used, key);
  if (winner === undefined || winner.origin.source === origin.source) return;
  const reason = `this ${key} is not used: ${winner.origin.source} has it too (${placeOf(winner.origin)}), and comes first`;
  yield { key, origin, field: '', reason, severity: 'error' };
}
