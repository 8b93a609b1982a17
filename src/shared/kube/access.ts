import { bytesOutside, largest } from '../files/outside-file.ts';

/** How an API server is reached, and as whom. An absent part is one that is not needed. */
export interface KubeAccess {
  /** `https://host:port`, and a path where the server is behind one. */
  readonly server: string;
  /** PEM of the roots that vouch for it. */
  readonly ca?: Buffer;
  /** The name that its certificate has to have, where it is not the host. */
  readonly servername?: string;
  readonly token?: string;
  /** PEM of what the client shows of itself. */
  readonly cert?: Buffer;
  readonly key?: Buffer;
}

/**
 * Looks up the access as it is now: tokens and roots are replaced while a program runs, so it is
 * done for each request. Rejects with what is wrong, where, and what to do.
 */
export type FindAccess = () => Promise<KubeAccess>;

/** The token in a file. Rejects where there is none. */
export async function tokenIn(path: string): Promise<string> {
  const token = (await readFor('the token for the Kubernetes API', path, largest.token))
    .toString()
    .trim();
  if (!/^[!-~]+$/.test(token)) throw new Error(`there is no token in ${path}`);
  return token;
}

/** A whole file. Rejects with what it is for, where it is, and why it cannot be read. */
export async function readFor(what: string, path: string, most: number): Promise<Buffer> {
  return bytesOutside(path, most).catch((error: unknown) => {
    const { message } = error as Error;
    throw new Error(
      `${what} cannot be read: ${message.includes(path) ? message : `${path}: ${message}`}`,
    );
  });
}
