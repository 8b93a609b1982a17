import { filter, type OperatorFunction } from 'rxjs';

/** Passes on the members of a tagged union with this `type`, narrowed to them. */
export function ofType<M extends { readonly type: string }, T extends M['type']>(
  type: T,
): OperatorFunction<M, Extract<M, { readonly type: T }>> {
  return filter((message): message is Extract<M, { readonly type: T }> => message.type === type);
}

/** Ends an exhaustive switch: the compiler rejects a value that can still occur here. */
export function unreachable(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`);
}
