import { defaultMeshConfig, type MeshConfig } from '../istio/mesh/mesh-config.ts';
import { type MeshNetworks, noNetworks } from '../istio/mesh/mesh-networks.ts';
import { type AnyResource, type Flaw, keyOf, type ResourceKey } from '../istio/documents/model.ts';
import { unreachable } from '../../operators/tagged-union.ts';
import { changeClass, type ChangeClass, type Changes, noChanges, widerOf } from './changes.ts';
import { noResources, partsOf, type Resources, resourceAt, withResources } from './resources.ts';
import {
  isUsed,
  keysIn,
  namespacesOf,
  type Selection,
  turnedNamespaces,
} from './seen-namespaces.ts';
import type { FetchedKeys } from './fetched-keys.ts';
import type { StoreEvent } from './store-event.ts';

/** The state of one source. */
export interface SourceState {
  readonly resources: Resources;
  /** As the source has them. */
  readonly flaws: readonly Flaw[];
  /** Whether the source has emitted everything that it had at the start. */
  readonly isSynced: boolean;
  /** Why the source cannot be read; undefined if it can. */
  readonly lost: string | undefined;
  /** Removed resources that stay in use until the removal is confirmed or due. */
  readonly heldKeys: readonly ResourceKey[];
}

/** The state of all sources. Immutable. */
export interface Store {
  /**
   * Each key has the resource of the first source that has it. Resources of namespaces that no
   * selector of the MeshConfig selects are left out.
   */
  readonly resources: Resources;
  /** By name, in order of precedence. */
  readonly sources: ReadonlyMap<string, SourceState>;
  readonly mesh: MeshConfig;
  readonly networks: MeshNetworks;
  readonly fetchedKeys: FetchedKeys;
  /** Whether any source has ever had a resource. */
  readonly content: 'none-yet' | 'received';
}

/** The state of a source before its first event. */
const silent: SourceState = {
  resources: noResources,
  flaws: [],
  isSynced: false,
  lost: undefined,
  heldKeys: [],
};

/**
 * Returns a store before the first event. Sources that are not in the list come after those that
 * are.
 */
export function emptyStore(sources: readonly string[]): Store {
  return {
    resources: noResources,
    sources: new Map(sources.map((name) => [name, silent])),
    mesh: defaultMeshConfig,
    networks: noNetworks,
    fetchedKeys: new Map(),
    content: 'none-yet',
  };
}

/** Returns whether every source has emitted everything that it had at the start. */
export function isSynced({ sources }: Store): boolean {
  return [...sources.values()].every((source) => source.isSynced);
}

/** Returns the store after an event, and what has changed in it. Pure. */
export function reduceStore(store: Store, event: StoreEvent): readonly [Store, Changes] {
  switch (event.type) {
    case 'changed':
      return withChanged(store, event);
    case 'mesh':
      return withMesh(store, event.mesh);
    case 'networks':
      return JSON.stringify(store.networks) === JSON.stringify(event.networks)
        ? [store, noChanges]
        : [
            { ...store, networks: event.networks },
            { ...noChanges, class: 'mesh' },
          ];
    case 'fetched-keys':
      return [
        { ...store, fetchedKeys: event.keys },
        { ...noChanges, class: 'config' },
      ];
    case 'flaws':
      return [withSource(store, event.source, { flaws: event.flaws }), noChanges];
    case 'synced':
      return [withSource(store, event.source, { isSynced: true, lost: undefined }), noChanges];
    case 'held':
      return [withSource(store, event.source, { heldKeys: event.removes }), noChanges];
    case 'lost':
    case 'still-lost':
      return [withSource(store, event.source, { lost: event.reason }), noChanges];
    default:
      return unreachable(event);
  }
}

function withSource(store: Store, name: string, part: Partial<SourceState>): Store {
  const before = store.sources.get(name) ?? silent;
  return { ...store, sources: new Map(store.sources).set(name, { ...before, ...part }) };
}

function withMesh(store: Store, mesh: MeshConfig): readonly [Store, Changes] {
  if (JSON.stringify(store.mesh) === JSON.stringify(mesh)) return [store, noChanges];
  const after = { ...store, mesh };
  const winners = turnedWinners(store, after, []);
  const resources = withResources(store.resources, winners);
  return [
    { ...after, resources },
    { class: 'mesh', keys: new Set(winners.keys()) },
  ];
}

function withChanged(
  store: Store,
  { source, upserts, removes }: Extract<StoreEvent, { readonly type: 'changed' }>,
): readonly [Store, Changes] {
  const edits = new Map<ResourceKey, AnyResource | undefined>();
  for (const key of removes) edits.set(key, undefined);
  for (const resource of upserts) edits.set(keyOf(resource), resource);

  const sourceResources = withResources(store.sources.get(source)?.resources ?? noResources, edits);
  const after = withSource(store, source, { resources: sourceResources });
  const states = [...after.sources.values()];
  const [only, ...others] = states.filter((state) => state.resources !== noResources);
  const winners: Winners = new Map();
  for (const key of edits.keys()) winners.set(key, firstOf(states, key));
  const isAllUsed = store.mesh.discoverySelectors.length === 0;
  if (!isAllUsed) selectWinners(store, after, winners);
  const resources =
    only !== undefined && others.length === 0 && isAllUsed
      ? only.resources
      : withResources(store.resources, winners);

  let widest: ChangeClass = 'none';
  const keys = new Set<ResourceKey>();
  for (const [key, resource] of winners) {
    const keyClass = changeClass(resourceAt(store.resources, key), resource);
    if (keyClass === 'none') continue;
    keys.add(key);
    widest = widerOf(widest, keyClass);
  }
  return [
    { ...after, resources, content: upserts.length > 0 ? 'received' : store.content },
    { class: widest, keys },
  ];
}

/** The resources that are in use, by key; undefined for a key without a resource. */
type Winners = Map<ResourceKey, AnyResource | undefined>;

const selectionOf = ({ mesh, resources }: Pick<Store, 'mesh' | 'resources'>): Selection => ({
  selectors: mesh.discoverySelectors,
  resources,
});

/** Adds resources of namespaces that the selectors select now, and leaves out all others. */
function selectWinners(before: Store, after: Store, winners: Winners): void {
  const namespaces = new Map([...winners].filter(([key]) => partsOf(key).kind === 'Namespace'));
  const selection = { ...after, resources: withResources(before.resources, namespaces) };
  const names = [...namespaces.keys()].map((key) => partsOf(key).name);
  for (const [key, resource] of turnedWinners(before, selection, names)) winners.set(key, resource);
  for (const key of winners.keys())
    if (!isUsed(selectionOf(selection), key)) winners.set(key, undefined);
}

/**
 * Returns the resources of namespaces that the selectors select only before a change, or only after
 * it.
 */
function turnedWinners(before: Store, after: Store, changedNames: readonly string[]): Winners {
  const states = [...after.sources.values()];
  const [old, now] = [selectionOf(before), selectionOf(after)];
  const turned = turnedNamespaces(old, now, changedNames, () =>
    states.flatMap(({ resources }) => [...namespacesOf(resources)]),
  );
  const winners: Winners = new Map();
  for (const namespace of turned)
    for (const { resources } of states)
      for (const key of keysIn(resources, namespace))
        winners.set(key, isUsed(now, key) ? firstOf(states, key) : undefined);
  return winners;
}

function firstOf(states: readonly SourceState[], key: ResourceKey): AnyResource | undefined {
  for (const { resources } of states) {
    const resource = resourceAt(resources, key);
    if (resource !== undefined) return resource;
  }
  return undefined;
}

/** Counts the removals that are held back, in all sources. */
export function heldRemovalCount({ sources }: Store): number {
  return [...sources.values()].reduce((count, { heldKeys }) => count + heldKeys.length, 0);
}
