/** Registers an action that cleans up after a test. */
export type Clear = (action: () => unknown) => void;

/**
 * Runs a test that may run beside others. Then it runs the actions that the test passed to `clear`,
 * the last one first, even if the test failed.
 */
export async function clearedAfter(run: (clear: Clear) => Promise<void>): Promise<void> {
  const actions: (() => unknown)[] = [];
  try {
    await run((action) => void actions.unshift(action));
  } finally {
    for (const action of actions) await action();
  }
}
