// Why: docs/decisions/096-pods-get-the-locality-of-their-node.md
import { isSameContent } from '../istio/documents/is-same-content.ts';
import { keyOf, type Resource, type ResourceKey } from '../istio/documents/model.ts';
import type { Environment } from './environment.ts';
import { entriesBy } from './grouped.ts';
import { partsOf, resourceAt, type Resources } from './resources.ts';

/** Returns the texts under which the index `pods` has the Pods of a Node. */
export const onNode = (node: string): readonly string[] => ['on', node];

/** Returns changed keys, and those of the Pods on each changed Node. */
export function withPodsOfNodes(
  keys: ReadonlySet<ResourceKey>,
  { pods }: Pick<Environment, 'pods'>,
): ReadonlySet<ResourceKey> {
  const more = [...keys].flatMap((key) => {
    const { kind, name } = partsOf(key);
    return kind === 'Node' ? [...entriesBy(pods, ...onNode(name))].map(keyOf) : [];
  });
  return more.length === 0 ? keys : new Set([...keys, ...more]);
}

/**
 * Returns the resource of a key. A Pod whose labels name no locality has the locality of its Node.
 * If it is equal to the previous one, it is the same object. Pure.
 *
 * @param before the resources that were returned before
 */
export function placedAt(
  resources: Resources,
  key: ResourceKey,
  before: Resources,
): ReturnType<typeof resourceAt> {
  const resource = resourceAt(resources, key);
  if (resource?.kind !== 'Pod' || resource.spec.locality !== '' || resource.spec.node === '')
    return resource;
  const node = resourceAt(
    resources,
    keyOf({ kind: 'Node', namespace: '', name: resource.spec.node }),
  );
  const locality = node?.kind === 'Node' ? node.spec.locality : '';
  if (locality === '') return resource;
  const last = resourceAt(before, key);
  const placed: Resource<'Pod'> = { ...resource, spec: { ...resource.spec, locality } };
  return isSameContent(last, placed) ? last : placed;
}
