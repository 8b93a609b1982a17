/**
 * Returns an object's own member. Every plain object inherits members such as `constructor`, so a
 * name from outside could find a member even in an empty object. Pure.
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
