import { bytesOutside, largest } from './outside-file.ts';

/** A whole file. Rejects with what it is for, where it is, and why it cannot be read. */
export async function neededFile(what: string, path: string, most: number): Promise<Buffer> {
  return bytesOutside(path, most).catch((error: unknown) => {
    throw new Error(`${what} cannot be read: ${path}: ${(error as Error).message}`);
  });
}

/** The one word in a file that says who asks. Rejects as {@link neededFile}, and without a word. */
export async function tokenIn(what: string, path: string): Promise<string> {
  const token = (await neededFile(what, path, largest.token)).toString('latin1').trim();
  // Never shown: what else is in the file may be a secret as well.
  if (!/^[!-~]+$/.test(token)) throw new Error(`${what} is not one word of ASCII: ${path}`);
  return token;
}
