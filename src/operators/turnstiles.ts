import { defer, finalize, type MonoTypeOperatorFunction, type Observable } from 'rxjs';
import { turnstile, type TurnstileBounds } from './turnstile.ts';

/**
 * Returns operators with a turnstile for each key: observables with the same key share its bounds,
 * and never wait for those with another key. A key without observables is forgotten.
 */
export function turnstiles<T>(
  bounds: TurnstileBounds,
  full$: Observable<T>,
): (key: string) => MonoTypeOperatorFunction<T> {
  const entries = new Map<string, ReturnType<typeof entry>>();
  const entry = () => ({ pass$: turnstile(bounds, full$), visits: 0 });
  return (key) => (source$) =>
    defer(() => {
      const visited = entries.get(key) ?? entry();
      entries.set(key, visited);
      visited.visits += 1;
      return source$.pipe(
        visited.pass$,
        finalize(() => {
          visited.visits -= 1;
          if (visited.visits === 0) entries.delete(key);
        }),
      );
    });
}
