import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Resolves to the first truthy result of `attempt`. Between two attempts it waits `every` ms
 * (default 20).
 *
 * After `within` ms (default 60,000, because a busy machine is late) it rejects with the result or
 * the error of the last attempt. An assertion that returns nothing does not count as success: end
 * it with `return true`. The time also ends an attempt that hangs.
 *
 * Use it outside of a test, or if the value is needed: in a test, `expect.poll` reports more.
 */
export async function eventually<T>(
  attempt: () => T | Promise<T>,
  { within = 60_000, every = 20 }: { within?: number; every?: number } = {},
): Promise<Exclude<T, false | null | undefined | 0 | ''>> {
  const deadline = performance.now() + within;
  let last = 'the first attempt gave no result';
  let cause: unknown;
  const timedOut = new Error('no result in time');
  for (;;) {
    try {
      const left = Math.max(0, deadline - performance.now());
      const abort = new AbortController();
      const timeUp = sleep(left, undefined, { signal: abort.signal }).then(() =>
        Promise.reject(timedOut),
      );
      timeUp.catch(() => undefined);
      const result = await Promise.race([attempt(), timeUp]).finally(() => abort.abort());
      if (result) return result as Exclude<T, false | null | undefined | 0 | ''>;
      [last, cause] = [`the last attempt gave ${String(result)}`, undefined];
    } catch (error) {
      if (error !== timedOut)
        [last, cause] = [
          `the last attempt threw ${error instanceof Error ? error.message : String(error)}`,
          error,
        ];
    }
    if (performance.now() + every >= deadline)
      throw new Error(`not within ${within} ms: ${last}`, { cause });
    await sleep(every);
  }
}
