import { isDeepStrictEqual } from 'node:util';
import { defer, map, type Observable } from 'rxjs';
import { unreachable } from '../../operators/tagged-union.ts';
import type { FollowSign } from './follow-state.ts';
import { type KubeObject, objectKey } from './kube-object.ts';

/** The part of an object that is kept. It stays the same JavaScript object until it changes. */
export interface StoredObject<T> {
  readonly key: string;
  readonly resourceVersion: string;
  readonly value: T;
}

/** A change of an object; a removed one has its last state. */
export interface ObjectChange<T> extends StoredObject<T> {
  readonly type: 'added' | 'changed' | 'removed';
}

/** The known objects, by `namespace/name`. */
export interface ObjectStore<T> {
  /** The map changes later: copy it to keep its state. */
  readonly objects: ReadonlyMap<string, StoredObject<T>>;
  /** The changes since the last value; after a new list only the differences. */
  readonly changes: readonly ObjectChange<T>[];
  /** All objects have been listed once. */
  readonly isListed: boolean;
  /** Why the known objects may be old; undefined if they are not. */
  readonly trouble: { readonly reason: string; readonly delayMs: number } | undefined;
}

/**
 * Keeps the objects of `sign$`: emits at each sign the known objects, and the changes. Cold, with
 * one store for each subscription; completes and errors with `sign$`.
 *
 * @param keep returns the part of an object that is kept; other parts take no memory
 */
export function objectStore<T>(
  sign$: Observable<FollowSign>,
  keep: (object: KubeObject) => T,
): Observable<ObjectStore<T>> {
  return defer(() => {
    const objects = new Map<string, StoredObject<T>>();
    let isListed = false;
    // Untrusted from an outage to the next list.
    let versions: 'trusted' | 'untrusted' = 'trusted';
    function set(object: KubeObject): readonly ObjectChange<T>[] {
      const [key, { resourceVersion }] = [objectKey(object), object.metadata];
      const before = objects.get(key);
      const hasVersion = before?.resourceVersion === resourceVersion;
      if (hasVersion && versions === 'trusted') return [];
      const entry = { key, resourceVersion, value: keep(object) };
      // A backup may have other content with the same version.
      if (hasVersion && isDeepStrictEqual(before.value, entry.value)) return [];
      objects.set(key, entry);
      return [{ type: before === undefined ? 'added' : 'changed', ...entry }];
    }
    function remove(key: string): readonly ObjectChange<T>[] {
      const before = objects.get(key);
      objects.delete(key);
      return before === undefined ? [] : [{ type: 'removed', ...before }];
    }
    return sign$.pipe(
      map((sign): ObjectStore<T> => {
        const unchanged = { objects, changes: [], trouble: undefined };
        switch (sign.type) {
          case 'listed': {
            const listedKeys = new Set(sign.objects.map(objectKey));
            isListed = true;
            const vanished = [...objects.keys()].filter((key) => !listedKeys.has(key));
            const changes = [...sign.objects.flatMap(set), ...vanished.flatMap(remove)];
            versions = 'trusted';
            return { ...unchanged, isListed, changes };
          }
          case 'set':
            return { ...unchanged, isListed, changes: set(sign.object) };
          case 'removed':
            return { ...unchanged, isListed, changes: remove(objectKey(sign.object)) };
          case 'current':
            return { ...unchanged, isListed };
          case 'lost':
            versions = 'untrusted';
            return {
              ...unchanged,
              isListed,
              trouble: { reason: sign.reason, delayMs: sign.delayMs },
            };
          default:
            return unreachable(sign);
        }
      }),
    );
  });
}
