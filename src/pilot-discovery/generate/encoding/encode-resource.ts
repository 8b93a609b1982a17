import { createHash } from 'node:crypto';
import { create, toBinary, type DescMessage, type MessageInitShape } from '@bufbuild/protobuf';
import type { ResourceKey } from '../../istio/model.ts';
import type { TypedView, XdsResource } from '../../push/view.ts';
import { resourceOf } from './resource-of.ts';

/** A message as a resource of Envoy: equal content, made of the same, is the same object. */
export function encodeResource<D extends DescMessage>(
  schema: D,
  name: string,
  init: MessageInitShape<D>,
  keys: readonly ResourceKey[],
): XdsResource {
  return resourceOf(name, toBinary(schema, create(schema, init)), keys);
}

/** Resources by name, of several with a name the first; its version is that of all of them. */
export function typedView(resources: readonly XdsResource[]): TypedView {
  return withResources({ version: '', resources: new Map() }, resources);
}

/** A view with further resources: those that it has already are left out. */
export function withResources(view: TypedView, further: readonly XdsResource[]): TypedView {
  const byName = new Map(view.resources);
  const hash = createHash('sha256').update(view.version);
  for (const resource of further) {
    if (byName.has(resource.name)) continue;
    byName.set(resource.name, resource);
    hash.update(`${resource.name}\n${resource.version}\n`);
  }
  return { version: hash.digest('hex').slice(0, 32), resources: byName };
}
