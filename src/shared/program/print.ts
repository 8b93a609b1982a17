import { printableJson } from '../log/printable.ts';

/**
 * Writes to the output of the program. Resolves when all is written; or when the reader is gone,
 * which is not a failure of the program (`… | head`).
 */
export function print(text: string): Promise<void> {
  return new Promise((resolve) => {
    process.stdout.once('error', () => resolve()).write(text, () => resolve());
  });
}

/** Prints a value as JSON that a person can also read, as {@link print} does. */
export function printJson(value: unknown): Promise<void> {
  return print(`${printableJson(JSON.stringify(value, undefined, 2))}\n`);
}
