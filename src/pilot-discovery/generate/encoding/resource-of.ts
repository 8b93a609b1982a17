import { createHash } from 'node:crypto';
import type { ResourceKey } from '../../istio/documents/model.ts';
import type { XdsResource } from '../../push/view.ts';

const living = new Map<string, WeakRef<XdsResource>>();
const forgotten = new FinalizationRegistry<string>((key) => {
  if (living.get(key)?.deref() === undefined) living.delete(key);
});

/**
 * Returns a resource from its encoded message. Equal content with equal keys is the same object as
 * long as it is referenced.
 */
export function resourceOf(
  name: string,
  body: Uint8Array,
  keys: readonly ResourceKey[],
): XdsResource {
  const version = createHash('sha256').update(body).digest('hex').slice(0, 32);
  const distinct = [...new Set(keys)];
  const key = [name, version, ...distinct].join('\n');
  const before = living.get(key)?.deref();
  if (before !== undefined) return before;
  const resource: XdsResource = { name, version, body, keys: distinct };
  living.set(key, new WeakRef(resource));
  forgotten.register(resource, key);
  return resource;
}
