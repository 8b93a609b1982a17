import type { Answer } from './proxy-stream.ts';

/** The approximate bytes of a resource in an answer, without its body, name and type. */
const rest = 32;

/** Returns the approximate size of these answers in bytes, without encoding them. Pure. */
export const answerSize = (answers: readonly Answer[]): number =>
  answers.reduce(
    (sum, { typeUrl, resources }) =>
      resources.reduce(
        (size, { name, body }) => size + body.length + name.length + typeUrl.length + rest,
        sum,
      ),
    0,
  );
