import { createHash } from 'node:crypto';
import { create, toBinary, type DescMessage, type MessageInitShape } from '@bufbuild/protobuf';
import { SortedMap } from '../../../shared/maps/sorted-map.ts';
import type { ResourceKey } from '../../istio/documents/model.ts';
import type { TypedView, XdsResource } from '../../push/view.ts';
import { resourceOf } from './resource-of.ts';

/** Returns a message as a resource of Envoy. Equal content with equal keys is the same object. */
export function encodeResource<D extends DescMessage>(
  schema: D,
  name: string,
  init: MessageInitShape<D>,
  keys: readonly ResourceKey[],
): XdsResource {
  return resourceOf(name, toBinary(schema, create(schema, init)), keys);
}

/**
 * Returns resources by name. If several have the same name, the first one is used. The version
 * covers all resources.
 */
export function typedView(resources: readonly XdsResource[]): TypedView {
  const byName = new Map<string, XdsResource>();
  for (const resource of resources)
    if (!byName.has(resource.name)) byName.set(resource.name, resource);
  return { version: digestOf(byName), resources: byName };
}

/** A view in the order of names. The cost of a changed view is that of the differences. */
export interface SortedView extends TypedView {
  readonly resources: SortedMap<XdsResource>;
}

const digests = new WeakMap<ReadonlyMap<string, XdsResource>, string>();

/**
 * A view without resources. It has a version, so that a client that comes back says that it had an
 * answer.
 */
export const noResources: SortedView = viewOf(SortedMap.empty());

/** Replaces resources of a view by name; undefined removes one. */
export function withResources(
  view: SortedView,
  edits: Iterable<readonly [string, XdsResource | undefined]>,
): SortedView {
  const resources = view.resources.with(edits);
  return resources === view.resources ? view : viewOf(resources);
}

function viewOf(resources: SortedMap<XdsResource>): SortedView {
  const hash = createHash('sha256');
  for (const chunk of resources.chunks()) hash.update(digestOf(chunk));
  return { version: hash.digest('hex').slice(0, 32), resources };
}

/** Returns a hash of names and versions. */
function digestOf(resources: ReadonlyMap<string, XdsResource>): string {
  const cachedDigest = digests.get(resources);
  if (cachedDigest !== undefined) return cachedDigest;
  const hash = createHash('sha256');
  for (const [name, { version }] of resources) hash.update(`${name}\n${version}\n`);
  const digest = hash.digest('hex').slice(0, 32);
  digests.set(resources, digest);
  return digest;
}
