import { bytesOutside, largest } from './outside-file.ts';
import { isOneWord } from './is-one-word.ts';

/** Reads a whole file. Rejects with the file's purpose, its path, and why it cannot be read. */
export async function neededFile(purpose: string, path: string, most: number): Promise<Buffer> {
  return bytesOutside(path, most).catch((error: unknown) => {
    throw new Error(`${purpose} cannot be read: ${path}: ${(error as Error).message}`);
  });
}

/**
 * Reads a token, which is the only word of its file. Rejects as {@link neededFile}, and also if the
 * file is not one word.
 */
export async function tokenIn(purpose: string, path: string): Promise<string> {
  const token = (await neededFile(purpose, path, largest.token)).toString('latin1').trim();
  // The content is never shown: other text in the file may also be a secret.
  if (!isOneWord(token)) throw new Error(`${purpose} is not one word of ASCII: ${path}`);
  return token;
}
