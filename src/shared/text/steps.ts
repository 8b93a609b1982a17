/** Work that is split into steps: its runner may let other work run between them. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** The number of tokens in a step. */
export const tokensPerStep = 512;

/** Runs all steps at once, for small work or if no other work waits. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
