import { filter, type OperatorFunction } from 'rxjs';

/** Lets through the members of a tagged union that carry `type`, narrowed to them. */
export function ofType<M extends { readonly type: string }, T extends M['type']>(
  type: T,
): OperatorFunction<M, Extract<M, { readonly type: T }>> {
  return filter((message): message is Extract<M, { readonly type: T }> => message.type === type);
}
