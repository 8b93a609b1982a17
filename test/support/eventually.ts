import { setTimeout as sleep } from 'node:timers/promises';

/**
 * For what is asked outside of a test, or whose value is wanted: in a test `expect.poll` says more.
 *
 * Resolves to the first truthy result of `attempt`, which is called every `every` ms (default 20)
 * until then.
 *
 * After `within` ms (default 60,000, since a busy machine is late) it rejects with what the last
 * attempt gave or threw. An assertion that returns nothing has not said yes: end it with
 * `return true`. An attempt that hangs counts too: the time is up all the same.
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
