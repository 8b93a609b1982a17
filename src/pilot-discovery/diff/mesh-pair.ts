import { buildEnvironment } from '../environment/build-environment.ts';
import { type ChangeClass, noChanges } from '../environment/changes.ts';
import type { Environment, GatewayClusters } from '../environment/environment.ts';
import { eachResource, resourceAt, type Resources } from '../environment/resources.ts';
import type { Store } from '../environment/store.ts';
import { isSameContent } from '../istio/documents/is-same-content.ts';
import type { ResourceKey } from '../istio/documents/model.ts';

export interface MeshSettings {
  /** Completes names of hosts without a dot. */
  readonly domain: string;
  readonly gatewayClusters: GatewayClusters;
}

/** A mesh before and after a change. */
export interface MeshPair {
  readonly before: Environment;
  readonly after: Environment;
}

/**
 * Returns the environments of two stores. The second is made from the first, as a running control
 * plane makes it, so that every part without a change is the same object. Pure.
 */
export function meshPair(
  before: Store,
  after: Store,
  { domain, gatewayClusters }: MeshSettings,
): MeshPair {
  const keys = changedResources(before.resources, after.resources);
  const widest: ChangeClass = before.mesh === after.mesh ? 'config' : 'mesh';
  const first = meshOf(before, { domain, gatewayClusters });
  const changes = { class: widest, keys };
  return {
    before: first,
    after: buildEnvironment(first, after, changes, domain, gatewayClusters),
  };
}

/** Returns the environment of one store. Pure. */
export const meshOf = (store: Store, { domain, gatewayClusters }: MeshSettings): Environment =>
  buildEnvironment(undefined, store, noChanges, domain, gatewayClusters);

function changedResources(before: Resources, after: Resources): ReadonlySet<ResourceKey> {
  const keys = new Set<ResourceKey>();
  for (const [key, resource] of eachResource(after))
    if (!isSameContent(resourceAt(before, key), resource)) keys.add(key);
  for (const [key] of eachResource(before)) if (resourceAt(after, key) === undefined) keys.add(key);
  return keys;
}
