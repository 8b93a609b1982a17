import { printableJson } from '../log/printable.ts';

/**
 * Writes to the output of the program. Resolves when all is written; or when nobody reads any more,
 * which is no failure of ours (`… | head`).
 */
export function print(text: string): Promise<void> {
  return new Promise((resolve) => {
    process.stdout.once('error', () => resolve()).write(text, () => resolve());
  });
}

/** {@link print} of a value as JSON that a person can read too. */
export function printJson(value: unknown): Promise<void> {
  return print(`${printableJson(JSON.stringify(value, undefined, 2))}\n`);
}
