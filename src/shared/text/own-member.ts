/**
 * The member that an object has itself under a name. Every plain object inherits members such as
 * `constructor`, so that a name that comes from outside finds something in an empty one. Pure.
 *
 * ```ts
 * ownMember({ cds: 1 }, 'cds'); // 1
 * ownMember({ cds: 1 }, 'constructor'); // undefined, and not the function Object
 * ```
 *
 * @param object undefined has no members
 * @param name may be any text
 */
export function ownMember<T>(
  object: Readonly<Record<string, T>> | undefined,
  name: string,
): T | undefined {
  return object !== undefined && Object.hasOwn(object, name) ? object[name] : undefined;
}
