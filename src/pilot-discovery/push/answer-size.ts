import type { Answer } from './proxy-stream.ts';

/** The bytes of a resource in an answer besides its body, name and type, nearly. */
const rest = 32;

/** Returns the size of these answers when they are encoded, in bytes: nearly, and at once. Pure. */
export const answerSize = (answers: readonly Answer[]): number =>
  answers.reduce(
    (sum, { typeUrl, resources }) =>
      resources.reduce(
        (size, { name, body }) => size + body.length + name.length + typeUrl.length + rest,
        sum,
      ),
    0,
  );
