import { catchError, map, of, type OperatorFunction } from 'rxjs';

/** A value of a stream, or the error with which the stream ended. */
export type Settled<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: unknown };

/** Wraps each value, and turns an error notification into a last value. The result never errors. */
export function settle<T>(): OperatorFunction<T, Settled<T>> {
  return (source) =>
    source.pipe(
      map((value): Settled<T> => ({ ok: true, value })),
      catchError((error: unknown) => of<Settled<T>>({ ok: false, error })),
    );
}
