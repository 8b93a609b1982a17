import type { Answer } from './proxy-stream.ts';

/** Returns the size of the resources in these answers, in bytes. Pure. */
export const answerSize = (answers: readonly Answer[]): number =>
  answers.reduce(
    (sum, { resources }) => resources.reduce((size, { body }) => size + body.length, sum),
    0,
  );
