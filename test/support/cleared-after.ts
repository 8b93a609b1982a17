/** Remembers what is to be cleared away. */
export type Clear = (action: () => unknown) => void;

/**
 * Runs a test that others run beside; whatever comes of it, what it told `clear` is cleared away
 * then, the last first.
 */
export async function clearedAfter(run: (clear: Clear) => Promise<void>): Promise<void> {
  const actions: (() => unknown)[] = [];
  try {
    await run((action) => void actions.unshift(action));
  } finally {
    for (const action of actions) await action();
  }
}
