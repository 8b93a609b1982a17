/** Work that is cut into steps: whoever does it may let others have their turn in between. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** So many tokens are looked at in a step. */
export const inStep = 1_024;

/**
 * All steps in a row: for what is small, or for whoever has nobody else to care for.
 */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
